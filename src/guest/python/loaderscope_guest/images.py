"""Counts the images that Pillow opens while a batch is made: their pixels, and those that JPEG engines of a GPU decode."""

from typing import Any

from loaderscope_guest.counters import counters

_SHORTEST, _LONGEST = 16, 16_384  # sides of images that the engines decode


def _is_for_engines(image: Any) -> bool:
    """The engines decode baseline JPEG, in colour or grey."""
    return (
        image.format == "JPEG"
        and image.mode in ("RGB", "L")
        and not image.info.get("progressive")
        and min(image.size) >= _SHORTEST
        and max(image.size) <= _LONGEST
    )


def look_at_image(image: Any, *_: Any, **__: Any) -> None:
    if not hasattr(image, "size") or not hasattr(image, "format"):
        return
    width, height = image.size
    counters.add("decode.image_pixels", width * height, 1)
    counters.add("decode.jpeg_share", _is_for_engines(image), 1)
