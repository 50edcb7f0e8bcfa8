"""Name the network by which a visitor's address is counted, for all limits of rate and number."""

from ipaddress import IPv4Address, ip_address, ip_network


def network_of(address: str) -> str:
    """Return the network that an address is counted by: an IPv4 address, or the /64 of IPv6, which one visitor has.

    `"203.0.113.9" -> "203.0.113.9"`, `"2001:db8::7" -> "2001:db8::/64"`, `"::ffff:203.0.113.9" -> "203.0.113.9"`
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
