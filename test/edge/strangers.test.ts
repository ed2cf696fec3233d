import { expect, test } from "bun:test";
import pino from "pino";
import { createStrangers } from "../../src/edge/proxy/strangers.ts";
import type { Lease } from "../../src/splice/connection.ts";

const LIMITS = { address: { requests: 2, webSockets: 1 }, app: { requests: 4, webSockets: 2 } };
const log = pino({ level: "silent" });

function opened() {
  const strangers = createStrangers({ log }, async () => true, LIMITS);
  const leases: Lease[] = [];
  return {
    /** @returns whether the request was admitted */
    enter(address: string, isWebSocket = false, appId = "a") {
      try {
        leases.push(strangers.enter({ appId, place: appId, address, isWebSocket }));
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: "rate_limited", headers: { "Retry-After": "5" } });
        return false;
      }
    },
    end: () => leases.shift()?.end(),
    endAll() {
      for (const lease of leases.splice(0)) lease.end();
    },
  };
}

test("an address has so many requests and WebSockets open at once in one app", () => {
  const { enter, end, endAll } = opened();
  expect([enter("192.0.2.1"), enter("192.0.2.1"), enter("192.0.2.1")]).toEqual([true, true, false]);
  // WebSockets count apart, and so do other addresses and other apps
  expect([enter("192.0.2.1", true), enter("192.0.2.1", true)]).toEqual([true, false]);
  expect([enter("192.0.2.2"), enter("192.0.2.1", false, "b")]).toEqual([true, true]);
  end();
  expect([enter("192.0.2.1"), enter("192.0.2.1")]).toEqual([true, false]);
  endAll();
  expect(enter("192.0.2.1")).toBe(true);
  endAll();
});

test("an app has so many open at once from all addresses", () => {
  const { enter, end, endAll } = opened();
  const seen = Array.from({ length: 5 }, (_, index) => enter(`192.0.2.${index}`));
  expect(seen).toEqual([true, true, true, true, false]);
  expect([1, 2, 3].map((last) => enter(`198.51.100.${last}`, true))).toEqual([true, true, false]);
  end();
  expect(enter("192.0.2.9")).toBe(true);
  endAll();
});

test("the IPv6 addresses of one network count as one, and so does an IPv4 address in IPv6", () => {
  const { enter, endAll } = opened();
  expect([enter("2001:db8::1"), enter("2001:db8::ffff:1"), enter("2001:db8:0:0:9::")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(enter("2001:db8:0:1::1")).toBe(true);
  endAll();
  expect([enter("::ffff:192.0.2.1"), enter("192.0.2.1"), enter("192.0.2.1")]).toEqual([true, true, false]);
  endAll();
});

test("a lease that ends twice counts once", () => {
  const strangers = createStrangers({ log }, async () => true, LIMITS);
  const from = { appId: "a", place: "a", address: "192.0.2.1", isWebSocket: true };
  const first = strangers.enter(from);
  first.end();
  first.end();
  const second = strangers.enter(from);
  expect(() => strangers.enter(from)).toThrow("Too many WebSockets");
  second.end();
});
