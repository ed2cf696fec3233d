import { expect, test } from "bun:test";
import ipaddr from "ipaddr.js";
import { CLOSED_IPV4 } from "../../src/sandboxes/closed-addresses.ts";
import { networkRules } from "../../src/sandboxes/docker/network-namespace.ts";
import { type ObjectsSpec, policyOf } from "../../src/sandboxes/kubernetes/objects.ts";
import { fc } from "../helpers/property.ts";

const rulesOf = (isOpen: boolean) =>
  networkRules(
    { id: "n", gateway: "198.19.0.1", member: "198.19.0.2" },
    { addresses: [], nameServers: ["9.9.9.9"] },
    8000,
    isOpen,
  );
const RULES = rulesOf(true);
const SPEC: ObjectsSpec = {
  installation: "0123456789abcdef",
  sessionId: "1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d",
  projectId: "11111111-1111-4111-8111-111111111111",
  generation: 1,
  image: "sandbox",
  environment: {},
  limits: { cpus: 1, memoryBytes: 1, diskBytes: 1, processes: 1 },
  egress: "open",
  runtimeClass: null,
  aliases: [],
};
const POLICY = policyOf(SPEC);

/** What no provider may ever let a sandbox reach, by what it is. */
const NEVER: readonly (readonly [string, string])[] = [
  ["loopback", "127.0.0.1"],
  ["a private network", "10.1.2.3"],
  ["a private network", "172.31.255.255"],
  ["a private network", "192.168.0.1"],
  ["carrier-grade NAT, and Alibaba's metadata", "100.100.100.200"],
  ["a cloud's metadata", "169.254.169.254"],
  ["Azure's metadata", "168.63.129.16"],
  ["Oracle's metadata", "192.0.0.192"],
  ["other sandboxes' networks", "198.19.4.2"],
  ["multicast", "224.0.0.251"],
  ["broadcast", "255.255.255.255"],
  ["AWS's metadata by IPv6", "fd00:ec2::254"],
  ["a private address in NAT64", "64:ff9b::a00:1"],
  ["a private address in 6to4", "2002:a00:1::"],
  ["a mapped private address", "::ffff:10.0.0.1"],
  ["a node by a public address of IPv6", "2606:4700::1111"],
];

test.each(NEVER)("%s (%s) is closed to sandboxes in Docker and in Kubernetes", (_, address) => {
  expect({ docker: dockerOpens(address), kubernetes: kubernetesOpens(address) }).toEqual({
    docker: false,
    kubernetes: false,
  });
});

test("the internet is open in both", () => {
  for (const address of ["1.1.1.1", "8.8.8.8", "140.82.121.4", "223.255.255.255"])
    expect({ address, docker: dockerOpens(address), kubernetes: kubernetesOpens(address) }).toEqual({
      ...{ address, docker: true, kubernetes: true },
    });
});

test("Docker and Kubernetes close the same addresses", () => {
  const edges = CLOSED_IPV4.flatMap((range) => {
    const [network, bits] = ipaddr.IPv4.parseCIDR(range);
    const first = numberOf(network);
    const size = 2 ** (32 - bits);
    return [first - 1, first, first + size - 1, first + size]
      .filter((n) => n >= 0 && n < 2 ** 32)
      .map(dotted);
  });
  const same = (address: string) =>
    expect([address, kubernetesOpens(address)]).toEqual([address, dockerOpens(address)]);
  edges.forEach(same);
  fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), same));
});

test("a sandbox that is not open has no rule for any address, nor for name servers", () => {
  const chain = /chain out \{([^}]*)\}/.exec(rulesOf(false))?.[1] ?? "";
  const accepted = chain.split("\n").filter((line) => line.trim().endsWith("accept"));
  expect(accepted.map((line) => line.trim())).toEqual([
    'oifname "lo" accept',
    "ct state established,related accept",
    "ip daddr . tcp dport @api accept",
  ]);
  expect(chain.indexOf("ip daddr 127.0.0.11 reject")).toBeLessThan(chain.indexOf("oifname"));
  expect(chain.indexOf("ip daddr 127.0.0.11 reject")).toBeGreaterThan(0);
  for (const egress of ["restricted", "none"] as const) {
    const { spec } = policyOf({ ...SPEC, egress });
    expect(spec?.policyTypes).toContain("Egress");
    expect(spec?.egress).toEqual([
      {
        to: [
          { namespaceSelector: {}, podSelector: { matchLabels: { "app.kubernetes.io/name": "svc-api" } } },
        ],
      },
    ]);
  }
});

/** Evaluates the rules like nft: rejects IPv6, then the addresses of the set, and accepts the rest. */
function dockerOpens(address: string): boolean {
  const chain = /chain out \{([^}]*)\}/.exec(RULES)?.[1] ?? "";
  expect(chain).toMatch(
    /meta nfproto ipv6 reject[^\n]*\n[\s\S]*ip daddr @forbidden reject[^\n]*\n\s*accept\s*$/,
  );
  const ranges = /set forbidden \{[^}]*elements = \{ ([^}]*) \}/.exec(RULES)?.[1]?.split(", ") ?? [];
  return !isV6(address) && !ranges.some((range) => holds(range, address));
}

/** The policy as a network plugin reads it: closed unless a block holds it and none of its exceptions does. */
function kubernetesOpens(address: string): boolean {
  const peers = (POLICY.spec?.egress ?? []).flatMap(({ to }) => to ?? []);
  return peers.some(
    ({ ipBlock }) =>
      ipBlock && holds(ipBlock.cidr, address) && !ipBlock.except?.some((range) => holds(range, address)),
  );
}

function holds(range: string, address: string): boolean {
  const [network, bits] = ipaddr.parseCIDR(range);
  const parsed = ipaddr.parse(address);
  return parsed.kind() === network.kind() && parsed.match(network, bits);
}

const isV6 = (address: string) => address.includes(":");
const numberOf = (address: ipaddr.IPv4) => address.octets.reduce((sum, octet) => sum * 256 + octet, 0);
const dotted = (n: number) => [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join(".");
