"""Write the pictures of the course into images/: ``python -m tools.images``."""

from pathlib import Path

from tools.diagrams import DIAGRAMS

IMAGES = Path(__file__).resolve().parents[1] / "images"


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for name, draw in DIAGRAMS.items():
        path = IMAGES / f"{name}.svg"
        path.write_bytes(draw().encode())
        print(path.relative_to(IMAGES.parent))


if __name__ == "__main__":
    main()
