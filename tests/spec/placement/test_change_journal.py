"""What changed since: readers who come often are told each change, and who is too far behind starts from nothing."""

from fairway.placement.change_journal import Journal


def written(count: int, keep: int) -> Journal:
    """Of nodes n1 to n<count>, every third of them deep."""
    journal = Journal()
    for number in range(1, count + 1):
        journal.add(f"n{number}", number % 3 == 0, keep)
    return journal


def test_a_reader_is_told_what_changed_after_its_version() -> None:
    journal = written(9, keep=20)
    assert list(journal.changed(6) or ()) == ["n7", "n8", "n9"]
    assert list(journal.deep(5) or ()) == ["n6", "n9"]
    assert (journal.changed(9), journal.deep(9)) == ({}, {})


def test_a_full_journal_keeps_its_newest_half() -> None:
    journal = written(21, keep=20)
    assert list(journal.changed(10) or ()) == [f"n{number}" for number in range(11, 22)]
    assert journal.changed(9) is None


def test_of_deep_changes_too_and_who_misses_one_that_is_forgotten_starts_from_nothing() -> None:
    journal = written(63, keep=20)  # n3, n6, to n60 fill it, and n63 makes half of them go
    assert list(journal.deep(30) or ()) == [f"n{number}" for number in range(33, 64, 3)]
    assert journal.deep(29) is None


def test_who_reads_at_every_change_never_starts_from_nothing() -> None:
    journal = Journal()
    for number in range(200):
        before = journal.version
        journal.add(f"n{number}", number % 2 == 0, keep=8)
        assert list(journal.changed(before) or ()) == [f"n{number}"]
        assert list(journal.deep(before) or ()) == ([f"n{number}"] if number % 2 == 0 else [])
