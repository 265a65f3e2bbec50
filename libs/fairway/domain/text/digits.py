"""Numbers in texts of others. `str.isdigit` is true of many that `int` reads as other numbers than they look like, and
of some, such as `²`, that it reads as none."""


def is_whole(text: str, longest: int = 20) -> bool:
    """Whether a text is a whole number, written in ASCII digits alone and in no more than `longest` of them."""
    return text.isascii() and text.isdigit() and len(text) <= longest
