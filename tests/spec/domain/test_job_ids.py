"""The id of a job: the same for the same client, for as long as there are records of it."""

from base64 import b32encode
from hashlib import blake2b

from fairway.domain.names import job_id


def test_an_id_ends_with_the_first_fifty_bits_of_its_digest_in_base32() -> None:
    for number in range(1_000):
        digest = blake2b(f"job\x1fteam\x1f{number}".encode(), digest_size=10).digest()
        assert job_id("team", str(number), "Train_1") == f"train-1-{b32encode(digest).decode().lower()[:10]}"
