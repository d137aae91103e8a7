// The copy button of an example copies what to type: it leaves out the prompts and the output.
for (const code of document.querySelectorAll("pre > code:has(.gp)")) {
  const typed = code.textContent.split("\n").filter((line) => /^(>>>|\.\.\.|[$>])( |$)/.test(line));
  code.dataset.copy = typed.map((line) => line.replace(/^(>>>|\.\.\.|[$>]) ?/, "")).join("\n");
}
// A name or an option in the text stays on one line: no line ends after a hyphen of --ties.
for (const code of document.querySelectorAll(".md-typeset :is(p, li) > code")) {
  if (code.textContent.length <= 30) code.style.whiteSpace = "nowrap";
}
