"""Looking back: why a row got its verdict."""

from __future__ import annotations

from seenbefore.audit.explain import Comparison, Explanation, FieldStory, Step, compare, explain, members

__all__ = ["Comparison", "Explanation", "FieldStory", "Step", "compare", "explain", "members"]
