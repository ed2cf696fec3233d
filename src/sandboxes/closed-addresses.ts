/**
 * Addresses that sandboxes of all providers cannot reach (IANA, special-purpose addresses): private networks, which include
 * the database, the LAN, nodes, pods and services; link-local addresses, which include the metadata services of clouds; and
 * Azure's metadata service, which has a public address. IPv6 is closed entirely, since a private address has too many forms
 * in it (mapped, 6to4, NAT64).
 */
export const CLOSED_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
] as const;
