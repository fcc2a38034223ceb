"""The decorator that kills: what it counts and where it would strike; that it strikes is shown by the kill points."""

from __future__ import annotations

import pytest

from headgate.testing.killing import Calls, KillPoint, Moment, mortal


class Shop:
    """A port with one method of each sort."""

    name = "shop"

    def sell(self, what: str, *, price: int = 1) -> str:
        """Sell, unless it is free."""
        if not price:
            raise ValueError(what)
        return f"{what} for {price}"

    async def order(self, what: str) -> str:
        """Order."""
        return what


async def test_calls_are_counted_by_name_and_change_nothing() -> None:
    """Both sides of each call, plain or async, also of one that raises."""
    calls = Calls()
    shop = mortal(Shop(), calls)
    assert (shop.sell("bread", price=2), await shop.order("salt"), shop.name) == ("bread for 2", "salt", "shop")
    with pytest.raises(ValueError, match="air"):
        shop.sell("air", price=0)
    assert [str(point) for point in calls.points] == [
        "before sell #1",
        "after sell #1",
        "before order #1",
        "after order #1",
        "before sell #2",
        "after sell #2",
    ]


async def test_only_the_named_methods_count() -> None:
    """Several ports may share one count."""
    calls = Calls()
    shop, other = mortal(Shop(), calls, only=("sell",)), mortal(Shop(), calls)
    await shop.order("salt")
    shop.sell("bread")
    other.sell("bread")
    assert [point.number for point in calls.points if point.moment is Moment.BEFORE] == [1, 2]


def test_a_point_is_read_as_it_is_written() -> None:
    """So that it can be the name of a test and the order to a process."""
    point = KillPoint(moment=Moment.AFTER, call="save", number=2)
    assert KillPoint.parse(str(point)) == point
    with pytest.raises(ValueError, match="during"):
        KillPoint.parse("during save #2")
