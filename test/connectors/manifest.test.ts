import { describe, expect, test } from "bun:test";
import { readManifest } from "../../src/contract/manifest/manifest.ts";

const V = "svc_version = 1\n";
const read = (text: string) => {
  const { manifest, errors } = readManifest(V + text);
  return {
    slugs: manifest?.connectors.map(({ slug }) => slug),
    secrets: manifest?.connectorSecrets,
    errors: errors.map(({ severity, message }) => `${severity}: ${message}`),
  };
};
const mcp = (more: string) =>
  `[[connectors]]\nslug = "hub"\ntype = "mcp"\nurl = "https://example.com/mcp"\n${more}\n`;

test("connectors keep the order of the file and of their policies", () => {
  const text = `${mcp('auth = "TOKEN"\nauth_header = "X-Api-Key"')}
[[connectors.policies]]
match = "get_*"
action = "allow"
[[connectors.policies]]
match = "*"
action = "ask"
[[connectors]]
slug = "shop"
type = "openapi"
spec = "docs/openapi.json"
`;
  expect(readManifest(V + text)).toMatchObject({
    errors: [],
    manifest: {
      connectorSecrets: ["TOKEN"],
      connectors: [
        {
          slug: "hub",
          type: "mcp",
          url: "https://example.com/mcp",
          spec: null,
          auth: "TOKEN",
          authHeader: "X-Api-Key",
          policies: [
            { match: "get_*", action: "allow" },
            { match: "*", action: "ask" },
          ],
        },
        { slug: "shop", type: "openapi", url: null, spec: "docs/openapi.json", auth: null, policies: [] },
      ],
    },
  });
});

describe("an invalid connector has no tools, and its secret stays with the server", () => {
  const cases: [string, string][] = [
    ["a policy without a decision", mcp('auth = "T"\n[[connectors.policies]]\nmatch = "*"')],
    ["an unknown decision", mcp('auth = "T"\n[[connectors.policies]]\nmatch = "*"\naction = "maybe"')],
    ["policies that are no tables", mcp('auth = "T"\npolicies = ["allow"]')],
    [
      "too many policies",
      mcp(`auth = "T"\n${'[[connectors.policies]]\nmatch = "*"\naction = "ask"\n'.repeat(101)}`),
    ],
    ["an unknown type", '[[connectors]]\nslug = "hub"\ntype = "ftp"\nurl = "https://a.example"\nauth = "T"'],
    ["no url", '[[connectors]]\nslug = "hub"\ntype = "http"\nauth = "T"'],
    ["no spec", '[[connectors]]\nslug = "hub"\ntype = "openapi"\nurl = "https://a.example"\nauth = "T"'],
    [
      "a credential in the url",
      '[[connectors]]\nslug = "hub"\ntype = "mcp"\nurl = "https://a:b@a.example/"\nauth = "T"',
    ],
    ["another scheme", '[[connectors]]\nslug = "hub"\ntype = "mcp"\nurl = "file:///etc/passwd"\nauth = "T"'],
    ["a slug with _", '[[connectors]]\nslug = "a_b"\ntype = "mcp"\nurl = "https://a.example"\nauth = "T"'],
    ["a spec outside", '[[connectors]]\nslug = "a"\ntype = "openapi"\nspec = "../x.json"\nauth = "T"'],
    ["svc's own header", mcp('auth = "T"\nauth_header = "Host"')],
    ["a header that ends the line", mcp('auth = "T"\nauth_header = "X\\r\\nY"')],
    [
      "one table instead of a list",
      '[connectors]\nslug = "a"\ntype = "mcp"\nurl = "https://a.example"\nauth = "T"',
    ],
  ];
  test.each(cases)("%s", (_, text) => {
    const { slugs, secrets, errors } = read(text);
    expect({ slugs, secrets }).toEqual({ slugs: [], secrets: ["T"] });
    expect(errors.join("\n")).toContain("error: ");
  });
});

test("messages name the key, and the header of a nested list", () => {
  expect(read(mcp('policies = "allow"')).errors).toEqual([
    "error: connectors[0].policies must be a list of tables, each with the header [[connectors.policies]].",
  ]);
  expect(read(mcp('auth_header = "X-Key"')).errors).toEqual([
    "error: connectors[0].auth_header needs auth, which names the secret.",
  ]);
  expect(read(mcp('spec = "a.json"')).errors).toEqual([
    'warning: connectors[0].spec has no effect in a connector of type "mcp".',
  ]);
});
