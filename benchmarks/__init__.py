"""What tieaware costs, as ratios against named baselines: ``make bench``."""
