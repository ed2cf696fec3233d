import { expect, test } from "bun:test";
import { readRemoteUrl } from "../../src/git/remote-url.ts";

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
  ["ssh://example.com:443/a", "ssh://example.com:443/a"],
  ["git@Example.com:a/b.git", "git@example.com:a/b.git"],
  ["example.com:a/b.git", "example.com:a/b.git"],
  ["git://example.com/a", "git://example.com/a"],
])("%s is %s", (text, url) => {
  const remote = readRemoteUrl(text, false);
  expect(remote.url).toBe(url);
  // what is stored is read again at each use
  expect(readRemoteUrl(remote.url, false).url).toBe(url);
});

test.each([
  ["https://user:p%40ss@example.com/a", { username: "user", token: "p@ss" }],
  ["https://token@example.com/a", { username: "token", token: "" }],
  ["https://:token@example.com/a", { username: "", token: "token" }],
  ["https://example.com/a", null],
  ["ssh://git@example.com/a", null],
])("credentials are taken out of %s", (text, credential) => {
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
  "just-a-word",
  "C:\\repo",
  `https://example.com/${"a".repeat(2048)}`,
])("%j is no repository URL", (text) => {
  for (const allowPrivate of [false, true]) {
    expect(() => readRemoteUrl(text, allowPrivate)).toThrow(
      expect.objectContaining({ code: "invalid_repo_url" }),
    );
  }
});

test.each([
  ["http://example.com/a", "http://example.com/a"],
  ["file:///srv/a.git", "file:///srv/a.git"],
  ["/srv/a.git", "file:///srv/a.git"],
  ["/srv/50%#?.git", "file:///srv/50%25%23%3F.git"],
])("%s only where the operator allows it", (text, url) => {
  expect(() => readRemoteUrl(text, false)).toThrow(expect.objectContaining({ code: "repo_not_allowed" }));
  expect(readRemoteUrl(text, true).url).toBe(url);
});
