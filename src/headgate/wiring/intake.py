"""Reports of agents that are attached to applications: taken in, and kept beside what is observed from here."""

from __future__ import annotations

from contextlib import AsyncExitStack

from headgate.config.secrets import resolve
from headgate.errors import ConfigError
from headgate.intake.gate import Gate, Reserved
from headgate.intake.keeping import Keeper
from headgate.intake.reading import Report
from headgate.intake.server import taking_reports
from headgate.options.service import ServiceOptions
from headgate.ports import EventHandler
from headgate.samplelog.files import root_of


def open_intake(options: ServiceOptions, told: EventHandler, stack: AsyncExitStack) -> int | None:
    """
    Take reports in until the stack is closed, and give the port; None where no address is set.

    Raises:
        ConfigError: the token cannot be had, or the address cannot be listened on.
    """
    address = options.agents.listen_on
    if address is None:
        return None
    try:
        token = None if options.agents.token is None else resolve(options.agents.token)
    except ValueError as error:
        raise ConfigError([f"agents.token: {error}"]) from error
    gate, keeper = Gate(Reserved.of(options)), Keeper(root_of(options.log), told)

    def keep(report: Report) -> None:
        gate.check(report)
        keeper.keep(report)

    return stack.enter_context(taking_reports(keep, address, token))
