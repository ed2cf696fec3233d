import { expect, test } from "bun:test";
import ipaddr from "ipaddr.js";
import { publicAddresses } from "../../src/git/remote/address.ts";
import { isPublic } from "../../src/lib/address.ts";
import { CLOSED_IPV4 } from "../../src/sandboxes/closed-addresses.ts";

test.each(["1.1.1.1", "140.82.121.3", "2606:4700:4700::1111", "2a00:1450::1"])("%s is public", (address) => {
  expect(isPublic(address)).toBe(true);
});

test.each([
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "239.1.1.1",
  "240.0.0.1",
  "255.255.255.255",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:1.1.1.1",
  "::7f00:1",
  "64:ff9b::7f00:1",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:10::1",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "fc00::1",
  "fd12::1",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "4000::1",
  "",
  "example.com",
])("%s is not public", (address) => {
  expect(isPublic(address)).toBe(false);
});

test.each(CLOSED_IPV4.map((range) => [range] as const))(
  "%s, which is closed to sandboxes, is not public",
  (range) => {
    const [address, bits] = ipaddr.IPv4.parseCIDR(range);
    expect(isPublic(address.toString())).toBe(false);
    expect(isPublic(ipaddr.IPv4.broadcastAddressFromCIDR(`${address}/${bits}`).toString())).toBe(false);
  },
);

test("rejects a host if one of its addresses is private", async () => {
  const answers = async () => ["1.1.1.1", "2606:4700::1", "10.0.0.1"];
  expect(publicAddresses("a.example", answers, 1000)).rejects.toMatchObject({ code: "repo_not_allowed" });
});

test("IPv4 comes first, and a literal address is not looked up", async () => {
  const answers = async () => ["2606:4700::1", "1.1.1.1"];
  expect(await publicAddresses("a.example", answers, 1000)).toEqual(["1.1.1.1", "2606:4700::1"]);
  const never = () => Promise.reject(new Error("asked"));
  expect(await publicAddresses("1.0.0.1", never, 1000)).toEqual(["1.0.0.1"]);
  expect(publicAddresses("169.254.169.254", never, 1000)).rejects.toMatchObject({ code: "repo_not_allowed" });
});

test("reports a resolver that fails, returns nothing or takes too long", async () => {
  const unreachable = { code: "repo_unreachable" };
  expect(publicAddresses("a.example", () => Promise.reject(new Error("no")), 1000)).rejects.toMatchObject(
    unreachable,
  );
  expect(publicAddresses("a.example", async () => [], 1000)).rejects.toMatchObject(unreachable);
  expect(publicAddresses("a.example", () => new Promise(() => {}), 20)).rejects.toMatchObject(unreachable);
});

test.each([
  ["EAI_AGAIN", true],
  ["ESERVFAIL", true],
  ["ENOTFOUND", false],
  ["ENODATA", false],
])("%s: another attempt may succeed: %p", async (code, isTransient) => {
  const fails = () => Promise.reject(Object.assign(new Error(code), { code }));
  const error = await publicAddresses("a.example", fails, 1000).catch((reason: unknown) => reason);
  expect(Reflect.get(Object(error), "headers")).toEqual(isTransient ? { "Retry-After": "5" } : {});
});
