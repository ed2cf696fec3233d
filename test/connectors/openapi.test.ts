import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ConnectorBench, type Service, startConnectors, startService } from "../helpers/connectors.ts";

let bench: ConnectorBench;
let service: Service;
const answer = (got: { method: string; path: string }) => Response.json({ got: `${got.method} ${got.path}` });

beforeAll(async () => {
  bench = await startConnectors();
  service = startService(answer);
  await bench.setSecret("KEY", "key-value-1", { for: ["connectors"] });
});
beforeEach(() => {
  service.answer = answer;
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});

const PETS = `openapi: 3.1.0
info: { title: Pets, version: "1" }
servers: [{ url: https://pets.example/v1 }]
paths:
  /pets/{id}:
    parameters:
      - { $ref: "#/components/parameters/Id" }
    get:
      operationId: getPet
      summary: Gets a pet
      parameters:
        - { name: fields, in: query, schema: { type: array, items: { type: string } } }
        - { name: X-Trace, in: header, schema: { type: string } }
        - { name: Authorization, in: header, schema: { type: string } }
    put:
      operationId: replacePet
      requestBody: { $ref: "#/components/requestBodies/Pet" }
    delete: {}
  /pets:
    post:
      operationId: uploadPet
      requestBody: { required: true, content: { multipart/form-data: {} } }
  /bad/../path:
    get: { operationId: climb }
  /half/{missing}:
    get: { operationId: half }
components:
  parameters:
    Id: { name: id, in: path, required: true, schema: { type: string }, description: The pet }
  requestBodies:
    Pet: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
  schemas:
    Pet:
      type: object
      properties:
        name: { type: string, example: Rex }
        parent: { $ref: "#/components/schemas/Pet" }
`;

const entry = (slug: string, spec: string, more = "") =>
  `[[connectors]]\nslug = "${slug}"\ntype = "openapi"\nspec = "${spec}"\n${more}\n`;
const tested = async (slug: string) => await bench.call("POST", `/connectors/${slug}/test`);

describe("a description in the repository", () => {
  beforeAll(async () => {
    const policies = [
      ["DELETE *", "deny"],
      ["*Pet", "allow"],
    ].map(([match, action]) => `[[connectors.policies]]\nmatch = "${match}"\naction = "${action}"\n`);
    await bench.have(
      entry("pets", "api/pets.yaml", `url = "${service.url}/base"\nauth = "KEY"\n${policies.join("")}`),
      { "api/pets.yaml": PETS },
    );
  });

  test("its operations are tools, with their parameters and bodies; others are left out", async () => {
    const { body } = await tested("pets");
    expect(body.tools).toMatchObject([
      { original_name: "getPet", name: "pets_getPet", description: "Gets a pet", action: "allow" },
      { original_name: "replacePet", action: "allow" },
      { original_name: "DELETE /pets/{id}", action: "deny" },
    ]);
    expect(body.left_out).toBe(3);
    const { tools } = await bench.agent.client.listTools();
    const schemaOf = (name: string) => tools.find((each) => each.name === name)?.inputSchema;
    expect(schemaOf("pets_getPet")).toEqual({
      type: "object",
      properties: {
        id: { type: "string", description: "The pet" },
        fields: { type: "array", items: { type: "string" } },
        "X-Trace": { type: "string" },
      },
      required: ["id"],
      additionalProperties: false,
    });
    // a schema that contains itself ends
    expect(schemaOf("pets_replacePet")).toMatchObject({
      required: ["id", "body"],
      properties: { body: { properties: { name: { type: "string" }, parent: { type: "object" } } } },
    });
    expect(JSON.stringify(schemaOf("pets_replacePet"))).not.toContain("Rex");
  });

  test("a call fills path, query, headers and body", async () => {
    const got = await bench.agent.call("pets_getPet", { id: "a/b c", fields: ["x", "y"], "X-Trace": "t" });
    expect(got.text).toBe('HTTP 200\n{"got":"GET /base/pets/a%2Fb%20c?fields=x&fields=y"}');
    expect(service.got.at(-1)?.headers).toMatchObject({
      "x-trace": "t",
      authorization: "Bearer key-value-1",
    });
    await bench.agent.call("pets_replacePet", { id: 7, body: { name: "Rex" } });
    expect(service.got.at(-1)).toMatchObject({ method: "PUT", path: "/base/pets/7", body: '{"name":"Rex"}' });
  });

  test.each([
    { id: ".." },
    { id: "." },
    { id: "../users" },
    { id: "a\\..\\b" },
    { id: "" },
    { id: {} },
    {},
    { id: "1", other: 1 },
    { id: "1", "X-Trace": "a\r\nHost: x" },
    { id: "1", Authorization: "x" },
  ])("the arguments %j are refused, and nothing is sent", async (args) => {
    const before = service.got.length;
    expect((await bench.agent.call("pets_getPet", args)).value).toMatchObject({ code: "validation_failed" });
    expect(service.got.length).toBe(before);
  });

  test("without a url, the first server is used; without the file, the error names it", async () => {
    await bench.have(entry("first", "api/pets.yaml") + entry("none", "api/none.yaml"));
    expect((await tested("first")).body.tools.length).toBe(3);
    expect((await tested("none")).body.error).toContain('the repository has no file "api/none.yaml"');
  });
});

describe("a description at a URL", () => {
  const served = (text: string) => (got: { method: string; path: string }) =>
    got.path === "/spec" ? new Response(text) : answer(got);

  test("can name a path of its own origin, and gets the credential", async () => {
    service.answer = served(PETS.replace("https://pets.example/v1", "/v2"));
    await bench.have(entry("own", `${service.url}/spec`, 'auth = "KEY"'));
    expect((await bench.agent.call("own_getPet", { id: "1" })).text).toContain("GET /v2/pets/1");
    expect(service.got.at(-1)?.headers["authorization"]).toBe("Bearer key-value-1");
  });

  test("cannot lead the credential to another origin", async () => {
    const other = startService(answer);
    service.answer = served(PETS.replace("https://pets.example/v1", other.url));
    await bench.have(entry("led", `${service.url}/spec`, 'auth = "KEY"'));
    expect((await tested("led")).body.error).toContain("set its url");
    expect(other.got).toEqual([]);
    // with a url the description is fetched without the credential, if it is elsewhere
    await bench.have(entry("split", `${service.url}/spec`, `auth = "KEY"\nurl = "${other.url}"`));
    const before = service.got.length;
    await bench.agent.call("split_getPet", { id: "1" });
    expect(service.got.slice(before).map(({ headers }) => headers["authorization"])).toEqual([undefined]);
    expect(other.got.at(-1)?.headers["authorization"]).toBe("Bearer key-value-1");
    await other.stop();
  });

  const doubled = Array.from({ length: 30 }, (_, index) => {
    const next = `{ $ref: "#/components/schemas/S${index + 1}" }`;
    return `    S${index}: { properties: { a: ${next}, b: ${next} } }`;
  }).join("\n");
  const aliases = (levels: number) =>
    Array.from({ length: levels }, (_, index) =>
      index === 0 ? "x0: &x0 [a, a]" : `x${index}: &x${index} [*x${index - 1}, *x${index - 1}]`,
    ).join("\n");
  const bomb = (schema: string, components: string) => `openapi: 3.0.0
paths:
  /a:
    post:
      operationId: one
      requestBody: { content: { application/json: { schema: ${schema} } } }
${components}`;
  const HOSTILE: [string, string, number | RegExp][] = [
    [
      "a schema that doubles",
      bomb('{ $ref: "#/components/schemas/S0" }', `components:\n  schemas:\n${doubled}`),
      1,
    ],
    ["aliases that double", `${aliases(12)}\n${bomb("{ enum: *x11 }", "")}`, 1],
    ["too many aliases", `${aliases(25)}\n${bomb("{ enum: *x24 }", "")}`, /neither JSON nor YAML/],
    ["a reference to itself", bomb('{ $ref: "#/x" }', 'x: { $ref: "#/x" }'), 1],
    ["a reference to a file", bomb('{ $ref: "/etc/passwd" }', ""), 1],
    [
      "deep nesting",
      `{"openapi":"3.0.0","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      /neither JSON nor YAML|0/,
    ],
    [
      "names of prototypes",
      '{"openapi":"3.0.0","paths":{"__proto__":{"get":{}},"/a":{"constructor":{},"get":{"parameters":[{"name":"__proto__","in":"query"}]}}}}',
      1,
    ],
    ["Swagger 2", "swagger: '2.0'", /not one of OpenAPI 3/],
    ["no description", "just text", /neither JSON nor YAML/],
    ["paths that are no object", "openapi: 3.0.0\npaths: [1]", 0],
  ];
  test.each(HOSTILE)("%s", async (name, text, expected) => {
    service.answer = served(text);
    const slug = `h${HOSTILE.findIndex(([each]) => each === name)}`;
    await bench.have(entry(slug, `${service.url}/spec`));
    const { status, body } = await tested(slug);
    if (typeof expected === "number") expect([status, body.tools?.length]).toEqual([200, expected]);
    else expect(body.error ?? String(body.tools.length)).toMatch(expected);
    const { tools } = await bench.agent.client.listTools();
    expect(JSON.stringify(tools.filter((each) => each.name.startsWith(slug))).length).toBeLessThan(20_000);
  });
});
