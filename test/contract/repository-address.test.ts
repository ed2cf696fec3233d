import { expect, test } from "bun:test";
import { repositoryKey } from "../../src/contract/repository-address.ts";

test.each<[string, string[]]>([
  [
    "code.test/team/shop",
    [
      "https://code.test/team/shop",
      "https://code.test/team/shop.git",
      "https://code.test/team/shop.git/",
      "https://code.test/team/shop/",
      "https://CODE.test/team/shop.GIT",
      "HTTPS://code.test./team/shop",
      "https://code.test:443/team/shop",
      "http://code.test:80/team/shop",
      "https://user:token@code.test/team/shop",
      "https://user@code.test//team/shop",
      "https://code.test/team/%73hop",
      "ssh://git@code.test/team/shop.git",
      "ssh://code.test:22/team/shop",
      "git://code.test:9418/team/shop",
      "git@code.test:team/shop.git",
      "git@CODE.TEST:/team/shop",
      "code.test:team/shop/",
      "  git@code.test:team/shop\n",
    ],
  ],
  [
    "code.test:8443/team/shop",
    ["https://code.test:8443/team/shop.git", "ssh://git@code.test:8443/team/shop"],
  ],
  ["code.test:443/team/shop", ["ssh://git@code.test:443/team/shop"]],
  ["code.test/Team/Shop", ["git@code.test:Team/Shop"]],
  ["code.test/team", ["https://code.test/team"]],
  ["[::1]:8008/v1/git/x", ["http://[::1]:8008/v1/git/x.git"]],
  ["[::1]/x", ["git@[::1]:x.git"]],
  [
    "file:/srv/shop.git",
    ["/srv/shop.git", "/srv/shop.git/", "file:///srv/shop.git", "file://localhost/srv/shop.git"],
  ],
  ["file:/srv/shop", ["/srv/shop", "file:///srv/%73hop"]],
])("%s", (key, spellings) => {
  for (const spelling of spellings) expect([spelling, repositoryKey(spelling)]).toEqual([spelling, key]);
});

test.each([
  "",
  "shop",
  "../shop",
  "C:\\shop",
  "C:/shop",
  "https://",
  "https://code.test",
  "https://code.test/.git",
  "ext::sh -c x",
  "svn://code.test/a",
  "/",
  "git@:a",
  "https://a b/c",
])("%j is no address", (text) => {
  expect(repositoryKey(text)).toBe(null);
});
