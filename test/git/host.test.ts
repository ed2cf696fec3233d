import { expect, test } from "bun:test";
import { join } from "node:path";
import { findHost } from "../../src/git/hosts/host.ts";
import type { GitHost } from "../../src/git/run/options.ts";
import { createTestGit, QUIET, temporary } from "../helpers/git-repo.ts";

const CREDENTIAL = { username: "x", token: "s3cr3t-t0ken" };
const OWN: GitHost[] = [
  { origin: "https://git.example.com", kind: "gitlab" },
  { origin: "https://ghe.example.com:8443", kind: "github" },
  { origin: "https://tenant.ghe.com", kind: "github" },
  { origin: "http://code.lan:3000", kind: "gitea" },
];

test.each([
  ["https://github.com/o/n.git", "https://api.github.com/repos/o/n"],
  ["https://github.com/o/n", "https://api.github.com/repos/o/n"],
  ["https://github.com/o/n/", "https://api.github.com/repos/o/n"],
  ["https://github.com/o/n.git/", "https://api.github.com/repos/o/n"],
  ["https://github.com/o/n.wiki.git", "https://api.github.com/repos/o/n.wiki"],
  ["https://github.com/o/.git.git", "https://api.github.com/repos/o/.git"],
  ["https://gitlab.com/g/s/t/n.git", "https://gitlab.com/api/v4/projects/g%2Fs%2Ft%2Fn"],
  ["https://codeberg.org/o/n.git", "https://codeberg.org/api/v1/repos/o/n"],
  ["https://gitea.com/o/n", "https://gitea.com/api/v1/repos/o/n"],
  ["https://git.example.com/g/n.git", "https://git.example.com/api/v4/projects/g%2Fn"],
  ["https://ghe.example.com:8443/o/n", "https://ghe.example.com:8443/api/v3/repos/o/n"],
  ["https://tenant.ghe.com/o/n", "https://api.tenant.ghe.com/repos/o/n"],
  ["http://code.lan:3000/o/n", "http://code.lan:3000/api/v1/repos/o/n"],
  // odd, and still one part each
  ["https://github.com/%C3%BC/n%23%3Fa%20b", "https://api.github.com/repos/%C3%BC/n%23%3Fa%20b"],
  ["https://gitlab.com/a%25/b&c=d", "https://gitlab.com/api/v4/projects/a%25%2Fb%26c%3Dd"],
])("%s is %s", (address, expected) => {
  const host = findHost(OWN, address, CREDENTIAL);
  expect(`${host?.base}${host?.path}`).toBe(expected);
  // what was built is what a URL makes of it
  for (const url of [
    `${host?.base}${host?.path}`,
    `${host?.base}${host?.api.branch(host.path, "a/b#c?d%2f")}`,
  ])
    expect(new URL(url).href).toBe(url);
});

test.each([
  "https://example.com/o/n",
  "https://github.com.example.com/o/n",
  "https://github.com:8443/o/n",
  "http://github.com/o/n",
  "https://api.github.com/o/n",
  "https://code.lan:3000/o/n",
  "http://code.lan/o/n",
  "https://git.example.com:8443/g/n",
  "https://github.com/n",
  "https://github.com/o/n/x",
  "https://github.com/o/..%2f..%2fuser",
  "https://github.com/o/%2e%2e",
  "https://github.com/%2e/n",
  "https://github.com/o/.git",
  "https://github.com/o//n",
  "https://github.com/o/a%5Cb",
  "https://github.com/o/a%00b",
  "https://github.com/o/%ff",
  "https://gitlab.com/g/..",
  "https://gitlab.com/n",
  "ssh://git@github.com/o/n",
  "git@github.com:o/n.git",
  "git://github.com/o/n",
  "file:///github.com/o/n",
])("%s has no API", (address) => {
  expect(findHost(OWN, address, CREDENTIAL)).toBeNull();
});

test("only configured hosts can have private addresses", () => {
  const trusted = (own: GitHost[]) => findHost(own, "https://github.com/o/n", CREDENTIAL)?.trusted;
  expect(trusted(OWN)).toBe(false);
  expect(trusted([{ origin: "https://github.com", kind: "github" }])).toBe(true);
});

test.each([["10.0.0.1"], ["127.0.0.1"], ["93.184.216.34", "169.254.169.254"], ["fd00::1"], []])(
  "does not call a host's API at %p, like its repositories",
  async (...addresses) => {
    await using directory = await temporary();
    const asked: string[] = [];
    const lines: string[] = [];
    await using engine = await createTestGit({
      dataDir: join(directory.path, "data"),
      allowPrivate: false,
      log: { ...QUIET, info: (fields, message) => void lines.push(`${message} ${JSON.stringify(fields)}`) },
      resolve: async (host) => {
        asked.push(host);
        return addresses;
      },
    });
    const repo = { ...engine.repo("https://github.com/o/n.git"), credential: CREDENTIAL };
    const failed = await engine.git
      .createBranch(repo, { branch: "x", base: "main" })
      .catch((error) => error.code);
    expect(failed).toBe(addresses.length > 0 ? "repo_not_allowed" : "repo_unreachable");
    expect(asked).toEqual(["api.github.com", "github.com"]);
    expect(lines.join("\n")).toContain("api.github.com");
    expect(lines.join("\n")).not.toContain(CREDENTIAL.token);
  },
);
