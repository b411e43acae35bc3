"""A column of the progress bar that rich doesn't have; loaded with rich, when a bar is shown."""

from __future__ import annotations

import time

from rich.progress import ProgressColumn, Task
from rich.text import Text


class RecordRate(ProgressColumn):
    """Records per second since the run started or went on."""

    def __init__(self) -> None:
        super().__init__()
        self._from: tuple[float, int] | None = None

    def render(self, task: Task) -> Text:
        """The rate as text."""
        records = int(task.fields["records"])
        if self._from is None and records:
            self._from = (time.monotonic(), records)
        seconds = task.elapsed or 0.0
        return Text(f"{records / seconds:>9,.0f}/s" if records and seconds else "", style="progress.data.speed")
