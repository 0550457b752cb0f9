"""Runs that are stepped by hand: for controllers, learning and hardware."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Iterable, Mapping

from . import _native
from ._controls import HAND, with_hand
from ._model import Model
from ._nearest import refuse_unknown, unknown
from ._run import DEFAULTS, ModelLike, request
from .errors import Error, ModelError

__all__ = ["Session"]


class Session:
    """A model under way by hand.

    >>> with Session(model, rewind=True) as s:            # doctest: +SKIP
    ...     s.step_until(1.0)
    ...     saved = s.save()
    ...     s["tank.flow"] = 0.5
    ...     s.step_until(2.0)
    ...     s.restore(saved)

    Inputs that nothing feeds can be set: those of a :class:`Model` and of an FMU are found; of a model file ``controls`` names
    them. What is set holds from the present time on, as after an event: it is seen at once, and the method looks back no further.
    ``rewind`` announces that the run will go back to before its current point: FMUs are told so, and those that cannot are refused.
    The other arguments are those of :func:`dovetail.run`.
    """

    def __init__(
        self,
        model: ModelLike,
        *,
        rewind: bool = False,
        controls: Mapping[str, float] | Iterable[str] | None = None,
        method: str | None = None,
        step: float | None = None,
        start_time: float | None = None,
        stop_time: float | None = None,
        tolerance: float | None = None,
        options: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> None:
        refuse_unknown(others, DEFAULTS, "Session(…)")
        given: dict[str, Any] = {"method": method, "step": step, "start_time": start_time, "stop_time": stop_time, "tolerance": tolerance}
        given |= {"options": options, "set": set, **others}
        whole, self._controls = with_hand(model, controls)
        self._model = whole
        known = whole._python.get(HAND) if isinstance(whole, Model) else None
        hand = None if known is None else known.number
        self._rewind = rewind
        self._native: _native.Session | None = None
        self._files = ExitStack()  # tables of inputs, which are read as the run goes on, or goes back
        with ExitStack() as files:
            asked, systems = files.enter_context(request({**DEFAULTS, **given, "model": whole}, rewind))
            self._native = _native.Session(asked, systems, hand)
            self._files = files.pop_all()
        self._places = {name: place for place, name in enumerate(self._native.names) if not name.startswith(HAND + ".")}

    @property
    def time(self) -> float:
        """The time reached, in seconds."""
        return self._open().time

    @property
    def stop_time(self) -> float:
        """The end of the run, as the model has it; steps may go beyond."""
        return self._open().stop_time

    @property
    def names(self) -> list[str]:
        """All variables that can be read."""
        return list(self._places)

    @property
    def controls(self) -> list[str]:
        """The inputs that can be set."""
        return list(self._controls)

    def step_until(self, time: float) -> bool:
        """Goes on to this time, exactly. False where a system has asked for the end of the run before.

        Ctrl-C raises KeyboardInterrupt; the session then stands at the end of the step that was under way.
        """
        session = self._open()
        if not time > session.time:
            raise Error(f"t = {time} s does not lie ahead: the session stands at t = {session.time} s; restore(…) goes back", time=session.time)
        return session.step_until(float(time)) is None

    def step(self, size: float) -> bool:
        """Goes on by so much."""
        return self.step_until(self.time + size)

    def __getitem__(self, name: str) -> float:
        if name not in self._places:
            raise unknown(name, self._places, "there is no variable `{}`")
        return self._open().value(self._places[name])

    def __setitem__(self, name: str, value: float) -> None:
        self.set({name: value})

    def set(self, values: Mapping[str, float]) -> None:
        """Sets several inputs at once: the model is made consistent once."""
        outputs = [(self._control(name), float(value)) for name, value in values.items()]
        if outputs:
            self._open().set(outputs)

    def _control(self, name: str) -> int:
        if name not in self._controls:
            if name in self._places:
                raise ModelError(
                    f"`{name}` cannot be set: only inputs that nothing feeds can; of a model file controls= says which",
                    variable=name,
                    system=name.partition(".")[0],
                )
            raise unknown(name, self._controls, "there is no input `{}` that can be set")
        return self._controls.index(name)

    def values(self) -> dict[str, float]:
        """The values of all variables where the session stands."""
        values = self._open().all_values()
        return {name: values[place] for name, place in self._places.items()}

    def save(self) -> bytes:
        """All that the rest of the run depends on, for :meth:`restore`, here or in another session of the same model."""
        return self._open().save()

    def restore(self, saved: bytes) -> None:
        """Goes to where a session was when it was saved."""
        if not self._rewind:
            raise Error("restore(…) goes back: say so when the session is made, with rewind=True", time=self.time, remedies=["rewind=True"])
        self._open().restore(saved)

    def close(self) -> None:
        """Frees the systems."""
        if self._native is not None:
            self._native.close()
            self._native = None
            self._files.close()

    def _open(self) -> _native.Session:
        if self._native is None:
            raise Error("the session is over")
        return self._native

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<dovetail.Session, over>" if self._native is None else f"<dovetail.Session at t = {self.time} s>"
