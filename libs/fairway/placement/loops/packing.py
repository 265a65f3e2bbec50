"""What clusters say, in as few bytes as its numbers need: as the record of a decision keeps it."""

from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.layout import Byte1, Int1, Said

# Columns: the answers, then the rows of numbers.
ANSWER = 0
FIRST_ROW = 1


@loop
def pack(said: Said, held: Int1, number: Int1, same: Int1, into: Byte1) -> None:
    """Writes a column behind the other: how many bytes a number has, then the numbers in so many bytes each, the lowest
    first.

    `held`: how many numbers each row has. `number`: in: zeros, one for each possible answer; out: which number an
    answer that was given has among those, the others -1. `same`: by column what all its numbers are, or minus one
    less the bytes that were written.
    """
    for at in range(len(said.answer)):
        number[said.answer[at]] = 1
    used = 0
    for answer in range(len(number)):
        given = number[answer]
        number[answer] = used if given else -1
        used += given
    end = 0
    same[ANSWER] = 0
    if used > 1:
        size = width(0, used - 1)
        into[0] = size
        end = 1
        for at in range(len(said.answer)):
            end = write(number[said.answer[at]], size, into, end)
        same[ANSWER] = -1 - end
    for row in range(len(held)):
        begin = end
        end = _pack_row(said, row, held[row], into, end)
        same[FIRST_ROW + row] = begin - end - 1
        if begin == end and held[row]:
            same[FIRST_ROW + row] = said.numbers[row, 0]


@inner
def _pack_row(said: Said, row: int, held: int, into: Byte1, end: int) -> int:
    """Nothing where all numbers are the same, and may stand for themselves."""
    low = 0
    high = 0
    for at in range(held):
        low = min(low, said.numbers[row, at]) if at else said.numbers[row, 0]
        high = max(high, said.numbers[row, at]) if at else said.numbers[row, 0]
    if low == high and low >= 0:
        return end
    size = width(low, high)
    into[end] = size
    end += 1
    for at in range(held):
        end = write(said.numbers[row, at], size, into, end)
    return end


@inner
def width(low: int, high: int) -> int:
    """Bytes of each number; eight have a sign."""
    if low < 0 or high >= 1 << 32:
        return 8
    if high >= 1 << 16:
        return 4
    return 2 if high >= 1 << 8 else 1


@inner
def write(value: int, size: int, into: Byte1, end: int) -> int:
    for place in range(size):
        into[end + place] = (value >> (8 * place)) & 255
    return end + size
