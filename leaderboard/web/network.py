"""The network by which a visitor's address is counted."""

from ipaddress import IPv4Address, ip_address, ip_network


def network_of(address: str) -> str:
    """Return the network that an address is counted by: an IPv4 address, or the /64 of IPv6, which one visitor has."""
    try:
        known = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(known, IPv4Address):
        return address
    return str(known.ipv4_mapped or ip_network((known, 64), strict=False))
