"""The labels of a series, as a mapping and as the text in which they stand on the page."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.model.identity import JobKey

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Labels(dict[str, str]):
    """
    Labels that are written once, however many series carry them: a vertex has a dozen.

    Attributes:
        text: with braces and escapes, empty when there are no labels.
    """

    __slots__ = ("text",)

    def __init__(self, **labels: str) -> None:
        """Take the labels in the order in which they are written."""
        super().__init__(labels)
        self.text = written(labels)


def of_job(job: JobKey, **more: str) -> Labels:
    """Label a series of a job."""
    return Labels(cluster=job.cluster, job=job.name, **more)


def written(labels: Mapping[str, str]) -> str:
    """Write labels in the text format, `{a="b"}`; nothing for none."""
    if not labels:
        return ""
    return "{" + ",".join([f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items()]) + "}"
