"""Labels, measures and tie rules, prepared once; then scores in, values out."""
