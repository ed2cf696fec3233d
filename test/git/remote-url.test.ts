import { describe, expect, test } from "bun:test";
import { REPO_URL_MAX } from "../../src/contract/limits.ts";
import { readRemoteUrl, repositoryName } from "../../src/git/remote/remote-url.ts";

const refused = (code: string, why = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(why) });

test.each([
  ["https://github.com/a/b.git", "https://github.com/a/b.git"],
  ["HTTPS://GitHub.COM:443/a/b", "https://github.com/a/b"],
  ["https://example.com:8443/a%20b.git", "https://example.com:8443/a%20b.git"],
  ["https://bücher.example/a", "https://xn--bcher-kva.example/a"],
  ["https://0x7f.1/a", "https://127.0.0.1/a"],
  ["https://2130706433/a", "https://127.0.0.1/a"],
  ["https://0177.0.0.1/a", "https://127.0.0.1/a"],
  ["https://[2606:4700::1]/a", "https://[2606:4700::1]/a"],
  ["ssh://git@example.com/a/b", "ssh://git@example.com/a/b"],
  ["ssh://git@example.com:22/a", "ssh://git@example.com/a"],
  ["git://example.com:9418/a", "git://example.com/a"],
  ["ssh://example.com:443/a", "ssh://example.com:443/a"],
  ["git@Example.com:a/b.git", "git@example.com:a/b.git"],
  ["example.com:a/b.git", "example.com:a/b.git"],
  ["git://example.com/a", "git://example.com/a"],
  ["git@[2606:4700::1]:a/b", "git@[2606:4700::1]:a/b"],
  ["ssh://git@[2606:4700::1]:2222/a", "ssh://git@[2606:4700::1]:2222/a"],
  ["https://example.com:/a", "https://example.com/a"],
  ["https://example.com:0443/a", "https://example.com/a"],
  ["https://example.com./a", "https://example.com/a"],
  ["https://example.com/a://b", "https://example.com/a://b"],
  ["https://example.com/a-", "https://example.com/a-"],
  ["https://example.com/a@b:0/c", "https://example.com/a@b:0/c"],
  ["https://exa%6dple.com/a", "https://example.com/a"],
  ["git@example.com:~/a?b#c", "git@example.com:~/a?b#c"],
])("%s is %s", (text, url) => {
  const remote = readRemoteUrl(text, false);
  expect(remote.url).toBe(url);
  // a stored URL is parsed again at each use
  expect(readRemoteUrl(remote.url, false).url).toBe(url);
});

test.each([
  ["https://user:p%40ss@example.com/a", { username: "user", token: "p@ss" }],
  ["https://token@example.com/a", { username: "token", token: "" }],
  ["https://:token@example.com/a", { username: "", token: "token" }],
  ["https://example.com/a", null],
  ["ssh://git@example.com/a", null],
])("removes credentials from %s", (text, credential) => {
  const remote = readRemoteUrl(text, false);
  expect(remote.credential).toEqual(credential);
  if (!text.startsWith("ssh")) expect(remote.url).toBe("https://example.com/a");
});

test.each([
  "",
  "-x",
  "--upload-pack=touch /tmp/x",
  "ext::sh -c id",
  "ext::sh",
  "fd::17",
  "ftp://example.com/a",
  "rsync://example.com/a",
  "https://",
  "https://example.com",
  "https://example.com/",
  "https:///a/b",
  "https://-oProxyCommand=x/a",
  "ssh://-oProxyCommand=x/a",
  "ssh://-x@example.com/a",
  "-x@example.com:a",
  "git@-example.com:a",
  "git@example.com:-a",
  "https://example.com/-a",
  "https://example.com/a?b=c",
  "https://example.com/a#b",
  "https://example.com/a\nb",
  "https://example.com/a\tb",
  "https://example.com/a\0b",
  "https://example.com/a%0ab",
  "https://example.com/a%0D%0Ahost=evil",
  "https://example.com%0a.evil/a",
  "https://example.com/a b",
  "https://example.com\\@evil.com/a",
  "https://exa$mple.com/a",
  "https://exa^mple.com/a",
  "https://example.com:0/a",
  "https://example.com:99999/a",
  "https://%zz@example.com/a",
  "https://example.com/%zz",
  "https://example.com/%ff",
  "https://fe80::1%25eth0/a",
  "https://[fe80::1%25eth0]/a",
  "ssh://git:password@example.com/a",
  "git://user@example.com/a",
  "git@example.com:",
  "@example.com:a",
  ":a",
  "[]:a",
  "a/b@example.com:c",
  "a@b@example.com:c",
  "./a:b",
  "exa^mple.com:a",
  "exa?mple.com:a",
  "[2606:4700::1#]:a",
  "just-a-word",
  "C:\\repo",
  `https://example.com/${"a".repeat(2048)}`,
])("%j is not a repository URL", (text) => {
  for (const allowPrivate of [false, true]) {
    expect(() => readRemoteUrl(text, allowPrivate)).toThrow(refused("invalid_repo_url"));
  }
});

test.each([
  ...["ext::sh", "EXT::sh", "a::b", "z::b", "0::b", "9::b", "a+b.c-d::e", "::b"].map((text) => [
    text,
    "remote helpers are not supported",
  ]),
  // all before the first `://` is a protocol, as git reads it
  ...["z", "az", "a9", "9a", "a+b.c-", "_a", "example.com:https", "git@example.com:ssh", "", "a/b"].map(
    (scheme) => [`${scheme}://example.com/a`, "is not a way to reach a repository"],
  ),
  ["-x", "it begins with “-”"],
  ["[]:a", "it is neither a URL nor user@host:path"],
  [":a", "it is neither a URL nor user@host:path"],
])("rejects %s with the reason: %s", (text, why) => {
  expect(() => readRemoteUrl(text, true)).toThrow(refused("invalid_repo_url", why));
});

describe("accepts a value at the limit, and rejects one past it", () => {
  test("the length of a URL", () => {
    const url = "https://example.com/".padEnd(REPO_URL_MAX, "a");
    expect(readRemoteUrl(url, false).url).toBe(url);
    expect(() => readRemoteUrl(`${url}a`, false)).toThrow(refused("invalid_repo_url", "longer than"));
  });

  test("the length of a host", () => {
    const host = `${"a.".repeat(126)}b`;
    expect(readRemoteUrl(`https://${host}/a`, false).host).toBe(host);
    expect(() => readRemoteUrl(`https://${host}b/a`, false)).toThrow(refused("invalid_repo_url"));
  });

  test.each(["https", "ssh", "git", "http"])("the port of %s", (scheme) => {
    for (const port of [1, 65_535]) {
      const remote = readRemoteUrl(`${scheme}://example.com:${port}/a`, true);
      expect([remote.port, remote.url]).toEqual([port, `${scheme}://example.com:${port}/a`]);
    }
    for (const port of ["0", "00", "65536", "99999999999", "-1", "1e3", "+22"]) {
      expect(() => readRemoteUrl(`${scheme}://example.com:${port}/a`, true)).toThrow(
        refused("invalid_repo_url"),
      );
    }
  });
});

test.each([
  ["https://example.com/a", "https", "example.com", 443],
  ["https://name:8080@example.com/a", "https", "example.com", 443],
  ["https://name:8080@example.com:81/a", "https", "example.com", 81],
  ["http://example.com:80/a", "http", "example.com", 80],
  ["http://example.com/a", "http", "example.com", 80],
  ["ssh://EXAMPLE.com/a", "ssh", "example.com", 22],
  ["ssh://[2606:4700::1]/a", "ssh", "2606:4700::1", 22],
  ["ssh://[2606:4700::1]:2222/a", "ssh", "2606:4700::1", 2222],
  ["git@[2606:4700::1]:22/a", "ssh", "2606:4700::1", 22],
  ["git@example.com:2222/a", "ssh", "example.com", 22],
  ["git://example.com/a", "git", "example.com", 9418],
  ["FILE:///srv/a", "file", "", 0],
])("%s uses %s, host %j, port %d", (text, scheme, host, port) => {
  const remote = readRemoteUrl(text, true);
  expect<unknown[]>([remote.scheme, remote.host, remote.port]).toEqual([scheme, host, port]);
});

test.each([
  ["git://example.com:1/a", "git://192.0.2.1:1/a", "git://[2001:db8::1]:1/a"],
  ["ssh://git@example.com/a", "ssh://git@192.0.2.1/a", "ssh://git@[2001:db8::1]/a"],
  ["git@example.com:a", "git@192.0.2.1:a", "git@[2001:db8::1]:a"],
  ["example.com:a", "192.0.2.1:a", "[2001:db8::1]:a"],
  ["/srv/a", "file:///srv/a", "file:///srv/a"],
])("replaces the host of %s with an address", (text, four, six) => {
  const { withHost } = readRemoteUrl(text, true);
  expect([withHost("192.0.2.1"), withHost("2001:db8::1")]).toEqual([four, six]);
});

const CODES = Array.from({ length: 256 }, (_, code) => code);
const isControl = (code: number) => code < 0x20 || code === 0x7f;

test("rejects invisible characters in a URL, plain or encoded", () => {
  const accepts = (text: string) => {
    try {
      return readRemoteUrl(text, false).url !== "";
    } catch {
      return false;
    }
  };
  for (const url of ["https://example.com/a?", "git@example.com:a?"]) {
    const unseen = CODES.filter((code) => !accepts(url.replace("?", String.fromCharCode(code))));
    const query = url.startsWith("https") ? [0x23, 0x25, 0x3f] : [];
    const controls = CODES.filter((code) => isControl(code) || (code >= 0x80 && code < 0xa0));
    expect(unseen).toEqual([...controls, 0x20, ...query, 0x5c, 0xa0].toSorted((a, b) => a - b));
    for (const character of ["\u2028", "\u3000", "\ufeff", "\ud800"])
      expect(accepts(url.replace("?", character))).toBe(false);
    for (const upper of [false, true]) {
      const encode = (code: number) => {
        const digits = code.toString(16).padStart(2, "0");
        return `%${upper ? digits.toUpperCase() : digits}`;
      };
      const encoded = CODES.slice(0, 128).filter((code) => !accepts(url.replace("?", encode(code))));
      expect(encoded).toEqual(CODES.filter(isControl));
    }
  }
});

/** Both ends of the ranges that a name is made of. */
const ENDS = ["a", "z", "0", "9", "_"];
/** What stands beside those ranges. */
const BESIDE = ["/", ":", "@", "[", "`", "{", "!", "~", "=", "%24", "é"];

describe("user and host names consist of letters, digits and few other characters", () => {
  test.each([...ENDS, "A", "Z"])("%s is allowed anywhere in a user name", (character) => {
    for (const user of [character, `x${character}`, `${character}${character}y`]) {
      expect(readRemoteUrl(`ssh://${user}@example.com/a`, false).url).toBe(`ssh://${user}@example.com/a`);
      expect(readRemoteUrl(`${user}@example.com:a`, false).url).toBe(`${user}@example.com:a`);
    }
  });

  test.each(["-", ".", "+"])("%s is allowed in a user name, but not first", (character) => {
    expect(readRemoteUrl(`x${character}@example.com:a`, false).url).toBe(`x${character}@example.com:a`);
    for (const url of [`${character}x@example.com:a`, `ssh://${character}x@example.com/a`])
      expect(() => readRemoteUrl(url, false)).toThrow(refused("invalid_repo_url"));
  });

  test.each(BESIDE.filter((character) => !":/".includes(character)))(
    "%s is not allowed in a user name",
    (character) => {
      for (const user of [`${character}x`, `x${character}`, `x${character}x`])
        for (const url of [`${user}@example.com:a`, `ssh://${user}@example.com/a`])
          expect(() => readRemoteUrl(url, false)).toThrow(refused("invalid_repo_url"));
    },
  );

  test.each(ENDS)("%s is allowed anywhere in a host name", (character) => {
    const labels = [character, `${character}x`, `x${character}`, `x${character}x`, `x-${character}-x`];
    // a name that ends in a number is an address
    for (const label of labels)
      for (const host of [`${label}.example`, `example.${label}.example`, `x${label}`, `example.x${label}`])
        expect(readRemoteUrl(`ssh://${host}/a`, false).host).toBe(host);
  });

  test.each(["-a", "a-", "-", "", "a.-b", "a.b-", "a..b", ".a", "a.b..", "a.-"])(
    "%j is not a host name",
    (host) => {
      for (const url of [`https://${host}/a`, `ssh://git@${host}/a`, `git@${host}:a`, `${host}:a`])
        expect(() => readRemoteUrl(url, true)).toThrow(refused("invalid_repo_url"));
    },
  );
});

test.each([
  ["http://example.com/a", "http://example.com/a"],
  ["http://user@example.com:80/a", "http://example.com/a"],
  ["file:///srv/a.git", "file:///srv/a.git"],
  ["file://localhost/srv/a.git", "file:///srv/a.git"],
  ["/srv/a.git", "file:///srv/a.git"],
  ["/srv/50%#?.git", "file:///srv/50%25%23%3F.git"],
])("%s is accepted only if the operator allows it", (text, url) => {
  expect(() => readRemoteUrl(text, false)).toThrow(refused("repo_not_allowed"));
  expect(readRemoteUrl(text, true).url).toBe(url);
});

test.each([
  "file://example.com/srv/a",
  "file:///srv/a?",
  "file:///srv/a?b",
  "file:///srv/a#b",
  "file://[/srv/a",
  "file:///",
  "file:///-a",
  "file:///srv/%zz",
  "/",
  "/-a",
])("%s is not a valid path, even if the operator allows paths", (text) => {
  expect(() => readRemoteUrl(text, true)).toThrow(refused("invalid_repo_url"));
});

test.each([
  ["https://example.com/a/b", "https://example.com/a/b.git", true],
  ["https://example.com/a/b/", "https://example.com/a/b.git/", true],
  ["ssh://git@example.com/a", "ssh://git@example.com/a.git", true],
  ["https://example.com/a", "https://example.com/b", false],
  ["https://example.com/a", "http://example.com/a", false],
  ["file:///srv/a", "file:///srv/a/", true],
  // two directories
  ["file:///srv/a", "file:///srv/a.git", false],
])("%s and %s are the same repository: %p", (one, other, areSame) => {
  expect(repositoryName(one) === repositoryName(other)).toBe(areSame);
});
