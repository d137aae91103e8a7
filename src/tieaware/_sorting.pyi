WIDE: bool
