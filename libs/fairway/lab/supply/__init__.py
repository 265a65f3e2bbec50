"""What the image is made of, and how that is held fast: hashes of packages, digests of images, and the list of both.

`make pins` asks the package index and `make digests` the registries of images, and what they say is written down;
everything else here reads what is written.
"""
