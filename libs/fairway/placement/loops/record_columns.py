"""What clusters say, in as few bytes as its numbers need: as the record of a decision keeps it."""

from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.layout import Byte1, Int1, SurveyFindings

# Columns: the answers, then the rows of numbers.
ANSWER = 0
FIRST_ROW = 1


@loop
def pack(said: SurveyFindings, count_of: Int1, answers: Int1, same: Int1, into: Byte1) -> int:
    """Writes a column behind the other: how many bytes a number has, then the numbers in so many bytes each, the lowest
    first.

    `count_of`: which of the counts says how many numbers a row has, or -1 where nobody reads it. `same`: by column what
    all its numbers are, or minus one less the bytes that were written. `answers`: room for twice as many as there may
    be; the first half gets those that were given, in order, and the answers in the record count in these. Returns how
    many.
    """
    number = answers[len(answers) // 2 :]
    number[:] = 0
    for at in range(len(said.answer)):
        number[said.answer[at]] = 1
    used = 0
    for answer in range(len(number)):
        if number[answer]:
            number[answer] = used
            answers[used] = answer
            used += 1
    end = 0
    same[ANSWER] = 0
    if used > 1:
        size = width(0, used - 1)
        into[0] = size
        end = 1
        for at in range(len(said.answer)):
            end = write(number[said.answer[at]], size, into, end)
        same[ANSWER] = -1 - end
    for row in range(len(count_of)):
        held = said.counts[count_of[row]] if count_of[row] >= 0 else 0
        begin = end
        end = _pack_row(said, row, held, into, end)
        same[FIRST_ROW + row] = begin - end - 1
        if begin == end and held:
            same[FIRST_ROW + row] = said.numbers[row, 0]
    return used


@inner
def _pack_row(said: SurveyFindings, row: int, held: int, into: Byte1, end: int) -> int:
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
