#!/bin/sh
# Search a collection of texts exactly and by methods that save work, and evaluate and compare the runs: without Python.
#
#     sh examples/search_collection.sh DOCUMENTS TOPICS QRELS FOLDER
#
# DOCUMENTS is a file or a folder, and TOPICS a file, in the formats of `tieaware index` and `tieaware search`. QRELS has
# judgments in TREC's format. The index, the runs and the tables are written to FOLDER.
set -eu
if [ $# -ne 4 ]; then
    echo "usage: sh search_collection.sh DOCUMENTS TOPICS QRELS FOLDER" >&2
    exit 2
fi
documents=$1 topics=$2 qrels=$3 folder=$4
mkdir -p "$folder/runs"

tieaware index "$documents" --save "$folder/index"

# Each line is the name of a run, and its method. With --whole-ties, averages over ties are exact.
while read -r name method; do
    tieaware search "$folder/index" "$topics" --method "$method" --weighting bm25 --whole-ties \
        --run "$folder/runs/$name.run" --counts 2> "$folder/$name.counts"
done <<'METHODS'
exact Exact()
maxscore MaxScore()
two-words AtLeast(m=2)
rare-words HighIdf(share=0.5)
champions Champions(r=20)
impacts ImpactOrdered(postings=0.2)
bits Exact(weighting='impact:4')
METHODS

tieaware eval "$qrels" "$folder/runs" -m 'AP nDCG@10' --table text --baseline exact
tieaware ties "$folder/runs" --qrels "$qrels" -m AP --format csv > "$folder/ties.csv"
tieaware compare "$qrels" "$folder/runs" -m AP --baseline exact --format csv > "$folder/compare.csv"
