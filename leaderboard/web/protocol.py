"""Extend uvicorn's HTTP protocol by limits on connections, and on the size and the arrival time of a request's head.

The head is the first line and the headers of a request. uvicorn itself waits for it without a limit, so a client that opens
many connections and sends nothing, or a byte a minute, would keep others out. `bounded_protocol` is passed to uvicorn by
`leaderboard/web/application.py`.
"""

import asyncio
from collections import Counter
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from leaderboard.web.network import network_of

MAX_HEAD = 65_536  # bytes of a request's first line and headers
HEAD_SECONDS = 15.0  # time for the head to arrive, counted from the connection or the first byte
MAX_CONNECTIONS = 2000  # open connections or requests of the server; above it uvicorn answers 503
NEARLY_FULL = 0.8  # share of MAX_CONNECTIONS from which waiting connections are closed for new ones
MAX_OF_NETWORK = 400  # open connections of one network, unless it is a proxy's, which carries many visitors
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_MANY = b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Connections:
    """The open connections of a server, by network, and which of them wait for the head of a request."""

    def __init__(self, proxies: str | None) -> None:
        """Create an empty set of connections.

        `proxies` are the addresses and networks of proxies, separated by commas, or `*`. Many visitors share one of them.
        """
        addresses = [address.strip() for address in (proxies or "").split(",")]
        self._all_are_proxies = "*" in addresses
        self._proxies = [ip_network(address, strict=False) for address in addresses if _is_network(address)]
        self._networks: dict[asyncio.Transport, str] = {}  # the network of each open connection
        self._counts = Counter[str]()  # open connections by network
        self._waiting: dict[asyncio.Transport, None] = {}  # those that wait for a head, the longest waiting first

    def add(self, transport: asyncio.Transport, address: str) -> bool:
        """Add a connection and return True, or return False if its network has too many, all of which are being answered.

        If its network or the server has too many connections, the one that has waited longest for a head is closed instead.
        """
        network = network_of(address)
        is_full = self._counts[network] >= MAX_OF_NETWORK and not self._is_proxy(address)
        if is_full and not self._close_oldest(network):
            return False
        self._networks[transport] = network
        self._counts[network] += 1
        if len(self._networks) > NEARLY_FULL * MAX_CONNECTIONS:
            self._close_oldest()
        return True

    def _close_oldest(self, network: str | None = None) -> bool:
        """Close the connection that has waited longest for a head, of this network or of any. Return whether there was one."""
        for transport in self._waiting:  # the longest waiting first
            if network is None or self._networks.get(transport) == network:
                self.remove(transport)
                transport.close()
                return True
        return False

    def remove(self, transport: asyncio.Transport) -> None:
        """Forget a connection. Removing it again has no effect."""
        self._waiting.pop(transport, None)
        network = self._networks.pop(transport, None)
        if network is None:
            return
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def start_waiting(self, transport: asyncio.Transport) -> None:
        """Note that a connection waits for a head from now on."""
        self._waiting.pop(transport, None)  # so that it becomes the last
        self._waiting[transport] = None

    def stop_waiting(self, transport: asyncio.Transport) -> None:
        self._waiting.pop(transport, None)

    def _is_proxy(self, address: str) -> bool:
        """Return whether an address is that of a proxy. One that cannot be read, as of a Unix socket, counts as one."""
        if self._all_are_proxies or not _is_network(address):
            return True
        own = ip_address(address)
        if isinstance(own, IPv6Address) and own.ipv4_mapped:
            own = own.ipv4_mapped  # ::ffff:10.0.0.1 is 10.0.0.1
        return any(own in proxy for proxy in self._proxies)


class BoundedHttpProtocol(HttpToolsProtocol):
    """Closes a connection if its network has too many, or if the head of a request is too large or arrives too slowly.

    The requests of a connection go through these states. uvicorn and its parser call the methods in brackets.

    - A head is awaited: the timer runs. (connection_made, data_received, on_message_begin)
    - The body is awaited: no timer. (on_headers_complete)
    - The request is complete and is being answered: no timer. (on_message_complete)
    - The request is answered. The timer starts with the next byte. If the body was not complete when the answer was, as of a
      request that was refused, the timer starts at once: the rest of the body has HEAD_SECONDS too. (on_response_complete)
    """

    connections_of_server: ClassVar[Connections]  # set by `bounded_protocol`

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The size of the awaited head is counted twice. The parser reports a header only when it has arrived whole, so
        # `_received_bytes` limits a head that arrives in pieces. If a head arrives at once, it has been parsed and its timer
        # stopped before `data_received` compares `_received_bytes`, so `_parsed_bytes` limits it.
        self._received_bytes = 0  # since the timer started or the last request was complete
        self._parsed_bytes = 0  # of the URL and of the names and values of headers
        self._timer: asyncio.TimerHandle | None = None  # closes the connection; None if it does not run
        self._awaits_body = False  # whether a head is complete and its body is not

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        if not self.connections_of_server.add(transport, peer[0] if peer else ""):
            transport.write(TOO_MANY)
            transport.close()
            return
        self._start_timer()
        self.connections_of_server.start_waiting(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.connections_of_server.remove(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_idle:  # also for blank lines before a head, which end uvicorn's own timeout of an idle connection
            self._start_timer()
        self._received_bytes += len(data)
        super().data_received(data)
        is_too_large = self._received_bytes > MAX_HEAD and not self._awaits_body
        if self._timer and is_too_large and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being received or answered, so that the next bytes begin a head."""
        return not self._awaits_body and (self.cycle is None or self.cycle.response_complete)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._parsed_bytes = 0
        # The timer runs already, unless this request arrived while the one before it is being answered.
        self._start_timer()

    def on_url(self, url: bytes) -> None:
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(name, value)
        super().on_header(name, value)

    def _count(self, *parts: bytes) -> None:
        """Add parts of the head. Raises ValueError if it is too large, which ends the parsing of the request."""
        self._parsed_bytes += sum(map(len, parts))
        if self._parsed_bytes > MAX_HEAD:
            raise ValueError("the head of a request is too large")

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that could not be parsed, and one whose head is too large."""
        if self._parsed_bytes <= MAX_HEAD:
            return super().send_400_response(msg)
        self.transport.write(TOO_LARGE)
        self.transport.close()

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self.connections_of_server.stop_waiting(self.transport)
        self._awaits_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._awaits_body = False
        self._received_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # `cycle` is the last request whose head has arrived. If that is not the one that was answered, its turn has come now.
        is_answering_next = not self.cycle.response_complete
        if is_answering_next or self.transport.is_closing():
            return
        self.connections_of_server.start_waiting(self.transport)
        if self._awaits_body:
            self._start_timer()

    def _start_timer(self) -> None:
        """Close the connection unless a head arrives within HEAD_SECONDS. A timer that runs already is not prolonged."""
        if self._timer is None:
            self._received_bytes = 0
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def bounded_protocol(proxies: str | None) -> type[BoundedHttpProtocol]:
    """Return the protocol of one server. `proxies` is as in FORWARDED_ALLOW_IPS.

    uvicorn makes an object of this class for each connection, so what all connections share is an attribute of the class.
    """

    class ServerProtocol(BoundedHttpProtocol):
        connections_of_server = Connections(proxies)

    return ServerProtocol


def _is_network(text: str) -> bool:
    """Return whether a text is an IP address or a network, such as 10.0.0.0/8."""
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True
