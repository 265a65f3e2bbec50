"""`python -m fairway.placement.loops.build`: compiles the loops of placement, once for each version of them."""

from fairway.placement.loops import machine_code

if __name__ == "__main__":
    print(f"placement: {machine_code.build()}")
