import { until } from "./until.ts";

/** What a browser shows of a message that was pushed to it. */
export interface Pushed {
  tag: string;
  title: string;
  body: string;
  url: string;
}

/** A browser as its push service sees it: the body of `POST …/browsers`, and what arrived, decrypted by its keys. */
export interface PushedBrowser {
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
  messages: Pushed[];
  /** The headers of the requests, whatever they were answered. */
  requests: Headers[];
  /** Waits until so many messages have arrived. */
  gets(count: number): Promise<Pushed[]>;
}

/** A push service on loopback, as RFC 8030 (requests), 8291 and 8188 (encryption) and 8292 (who sends) describe it. */
export interface PushService {
  origin: string;
  browser(): Promise<PushedBrowser>;
  /** The answer to a request that is in order; a test changes it. */
  answer: () => Response;
  stop(): Promise<void>;
}

export function startPushService(): PushService {
  const browsers = new Map<string, PushedBrowser & { decrypt: (body: Uint8Array) => Promise<string> }>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const browser = browsers.get(new URL(request.url).pathname);
      if (!browser) return new Response(null, { status: 404 });
      browser.requests.push(request.headers);
      await checkSender(request.headers.get("authorization") ?? "", service.origin);
      if (request.method !== "POST" || !/^\d+$/.test(request.headers.get("ttl") ?? ""))
        return new Response(null, { status: 400 });
      const answer = service.answer();
      const text = await browser.decrypt(await request.bytes());
      if (answer.ok) browser.messages.push(JSON.parse(text));
      return answer;
    },
  });
  const service: PushService = {
    origin: `http://127.0.0.1:${server.port}`,
    answer: () => new Response(null, { status: 201 }),
    async browser() {
      const path = `/push/${crypto.randomUUID()}`;
      const { keys, decrypt } = await makeReceiver();
      const messages: Pushed[] = [];
      const browser = {
        ...{ subscription: { endpoint: service.origin + path, keys }, messages, requests: [], decrypt },
        async gets(count: number) {
          await until(
            () => `${count} messages arrive, and not ${JSON.stringify(messages)}`,
            () => messages.length >= count,
          );
          return messages;
        },
      };
      browsers.set(path, browser);
      return browser;
    },
    stop: () => server.stop(true),
  };
  return service;
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));
const CURVE = { name: "ECDH", namedCurve: "P-256" };

async function makeReceiver() {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["deriveBits"]);
  const own = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const auth = crypto.getRandomValues(new Uint8Array(16));
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
  return {
    keys: { p256dh: base64(own), auth: base64(auth) },
    async decrypt(body: Uint8Array): Promise<string> {
      const [salt, idLength = 0] = [body.slice(0, 16), body[20]];
      const sender = body.slice(21, 21 + idLength);
      const record = body.slice(21 + idLength);
      if (body.byteLength > 4_096) throw new Error("push services take 4,096 bytes");
      const theirs = await crypto.subtle.importKey("raw", sender, CURVE, false, []);
      const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, pair.privateKey, 256);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), own, sender]);
      const secret = await hkdf(new Uint8Array(shared), auth, info, 32);
      const key = await hkdf(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
      const iv = await hkdf(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
      const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
      const plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, aes, record));
      if (plain.at(-1) !== 2) throw new Error("the record is not the last one");
      return Buffer.from(plain.subarray(0, -1)).toString();
    },
  };
}

async function hkdf(key: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number) {
  const imported = await crypto.subtle.importKey("raw", new Uint8Array(key), "HKDF", false, ["deriveBits"]);
  const how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(salt), info: new Uint8Array(info) };
  return new Uint8Array(await crypto.subtle.deriveBits(how, imported, 8 * bytes));
}

/** RFC 8292, 2 and 3. */
async function checkSender(authorization: string, origin: string): Promise<void> {
  const [, head = "", claims = "", signature = "", key = ""] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const imported = await crypto.subtle.importKey("raw", bytesOf(key), algorithm, false, ["verify"]);
  const signed = new Uint8Array(Buffer.from(`${head}.${claims}`));
  const how = { name: "ECDSA", hash: "SHA-256" };
  if (!(await crypto.subtle.verify(how, imported, bytesOf(signature), signed)))
    throw new Error("the signature of the sender is wrong");
  const { aud, exp } = JSON.parse(Buffer.from(claims, "base64url").toString());
  const leftS = exp - Date.now() / 1000;
  if (aud !== origin || leftS < 0 || leftS > 86_400) throw new Error(`not for this service: ${aud} ${exp}`);
}
