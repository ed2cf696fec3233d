import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  type ConnectorBench,
  mcpAnswer,
  type Service,
  startConnectors,
  startService,
  text,
  tool,
} from "../helpers/connectors.ts";
import { recordingOutbound } from "../helpers/recording-outbound.ts";

let bench: ConnectorBench;
let service: Service;
const usual = mcpAnswer({ tools: [tool("one")], call: () => text("1") });

beforeAll(async () => {
  bench = await startConnectors();
  service = startService(usual);
});
afterEach(() => {
  service.answer = usual;
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});

const entry = (slug: string, type = "mcp", url = `${service.url}/x`, more = "") =>
  `[[connectors]]\nslug = "${slug}"\ntype = "${type}"\nurl = "${url}"\n${more}\n`;
const tested = async (slug: string) => await bench.call("POST", `/connectors/${slug}/test`);
const names = async (slug: string) =>
  (await bench.agent.names())
    .filter((name) => name.startsWith(`${slug}_`))
    .map((name) => name.slice(slug.length + 1));

describe("lists of tools", () => {
  test("names that model APIs refuse are changed; each still calls its own tool", async () => {
    const originals = ["a.b", "a/b", "a b", "ä", "", "x".repeat(100), "x".repeat(101), "ok-1_2"];
    service.answer = mcpAnswer({
      tools: originals.map((name) => tool(name)),
      call: (name) => text(`<${name}>`),
    });
    await bench.have(entry("odd"));
    const listed = await names("odd");
    expect(listed.length).toBe(originals.length);
    expect(new Set(listed).size).toBe(originals.length);
    for (const [index, name] of listed.entries()) {
      expect(`odd_${name}`).toMatch(/^[\w-]{1,50}$/);
      expect((await bench.agent.call(`odd_${name}`)).text).toBe(`<${originals[index]}>`);
    }
    expect(listed).toContain("ok-1_2");
  });

  test("of two tools with one name the first is used, and names with control characters are left out", async () => {
    const tools = [
      tool("same", { description: "first" }),
      tool("same"),
      tool("a\u0000b"),
      tool("a\nb"),
      tool("\ud800"),
    ];
    service.answer = mcpAnswer({ tools, call: () => text("") });
    await bench.have(entry("twice"));
    const { body } = await tested("twice");
    expect(body.tools).toMatchObject([{ name: "twice_same", description: "first" }]);
    expect(body.left_out).toBe(4);
  });

  test("svc's own tools keep their names", async () => {
    service.answer = mcpAnswer({ tools: [tool("sessions"), tool("x")], call: () => text("stolen") });
    await bench.have(entry("list"));
    expect((await bench.agent.names()).filter((name) => name === "list_sessions").length).toBe(1);
    expect((await bench.agent.call("list_sessions")).text).not.toBe("stolen");
  });

  test("a huge list is cut", async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => tool(`t${index}`));
    service.answer = mcpAnswer({ tools: many, call: () => text("") });
    await bench.have(entry("huge"));
    const { body } = await tested("huge");
    expect([body.tools.length, body.left_out]).toEqual([128, 5_000 - 128]);
  });

  test("a tool with a huge schema is left out, and a huge description cut", async () => {
    const wide = { type: "object" as const, properties: { a: { enum: ["x".repeat(20_000)] } } };
    const tools = [tool("wide", { inputSchema: wide }), tool("long", { description: "d".repeat(10_000) })];
    service.answer = mcpAnswer({ tools, call: () => text("") });
    await bench.have(entry("wide"));
    const { body } = await tested("wide");
    expect(body.tools).toMatchObject([{ name: "wide_long", description: "d".repeat(2_000) }]);
  });

  test("pages that never end are ended", async () => {
    let page = 0;
    service.answer = async (got, request) => {
      if (!got.body.includes("tools/list")) return await usual(got, request);
      const { id } = JSON.parse(got.body);
      const result = { tools: [tool(`t${page++}`)], nextCursor: "more" };
      return Response.json({ jsonrpc: "2.0", id, result });
    };
    await bench.have(entry("pages"));
    expect((await tested("pages")).body.tools.length).toBe(10);
  });
});

describe("answers", () => {
  const BIG = "y".repeat(300_000);
  test("a long text is cut, and says so", async () => {
    service.answer = mcpAnswer({ tools: [tool("one")], call: () => text(BIG) });
    await bench.have(entry("long"));
    const { text: got } = await bench.agent.call("long_one");
    expect(got.length).toBeLessThan(121_000);
    expect(got).toEndWith("[svc: the result is cut. Request less of it.]");
  });

  test("many parts, images and unknown kinds are bounded", async () => {
    const image = { type: "image" as const, data: "A".repeat(800_000), mimeType: "image/png" };
    const parts = [image, image, { type: "text" as const, text: "end" }];
    service.answer = mcpAnswer({ tools: [tool("one")], call: () => ({ content: parts }) });
    await bench.have(entry("parts"));
    const { content } = await bench.agent.client.callTool({ name: "parts_one", arguments: {} });
    expect(content).toMatchObject([{ type: "image" }, { type: "text" }, { type: "text", text: "end" }]);
  });

  const WRONG: [string, Service["answer"], string][] = [
    [
      "HTML",
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      "not one of the Model Context Protocol",
    ],
    [
      "no JSON",
      () => new Response("{", { headers: { "content-type": "application/json" } }),
      "not one of the Model Context Protocol",
    ],
    ["500", () => new Response("secret stack", { status: 500 }), "it answered 500."],
    [
      "over the limit",
      () => new Response(`"${BIG.repeat(8)}"`, { headers: { "content-type": "application/json" } }),
      "is over",
    ],
    ["a redirect", () => Response.redirect("http://169.254.169.254/", 302), "redirects are not followed"],
    ["nothing", () => new Response(null, { status: 200 }), "not one of the Model Context Protocol"],
    [
      "another kind of result",
      (got) => Response.json({ jsonrpc: "2.0", id: JSON.parse(got.body).id, result: { tools: "x" } }),
      "not one of the Model Context Protocol",
    ],
  ];
  test.each(WRONG)("%s is an error that says so", async (name, answer, said) => {
    service.answer = answer;
    const slug = `w${WRONG.findIndex(([each]) => each === name)}`;
    await bench.have(entry(slug));
    const { status, body } = await tested(slug);
    expect([status, body.code]).toEqual([502, "connector_failed"]);
    expect(body.error).toContain(said);
    expect(body.error).not.toContain("stack");
    // and its absence is the only effect on the others
    expect(await bench.agent.names()).toContain("list_sessions");
  });

  test("a connection that is cut in the middle is an error, and is recorded", async () => {
    await bench.have(entry("cut"));
    await names("cut");
    service.answer = async (got, request) =>
      got.body.includes("tools/call")
        ? new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }), {
            headers: { "content-type": "application/json" },
          })
        : await usual(got, request);
    expect((await bench.agent.call("cut_one")).value).toMatchObject({ code: "connector_failed" });
    expect(await bench.lastCall()).toMatchObject({
      tool: "one",
      outcome: "failed",
      error: expect.any(String),
    });
  });

  test("a service that is gone is an error that names its host only", async () => {
    const gone = startService(usual);
    await gone.stop();
    await bench.have(entry("gone", "mcp", `${gone.url}/path-with-a-token`));
    const { body } = await tested("gone");
    expect(body.code).toBe("connector_failed");
    expect(body.error).not.toContain("path-with-a-token");
  });
});

test("addresses that are not public are refused before anything is sent", async () => {
  const { outbound, resolved, connected } = recordingOutbound((host) =>
    host === "rebound.example" ? ["93.184.216.34", "10.0.0.1"] : ["169.254.169.254"],
  );
  const strict = await startConnectors({ deps: { outbound } });
  const urls = [
    "http://public.example/mcp",
    "https://127.0.0.1/mcp",
    "https://localhost/mcp",
    "https://[::1]/mcp",
    "https://[::ffff:10.0.0.1]/mcp",
    "https://0x7f000001/mcp",
    "https://metadata.example/mcp",
    "https://rebound.example/mcp",
  ];
  const types = ["mcp", "http"] as const;
  const slugOf = (index: number, type: string) => `c${index}${type}`;
  const all = urls.flatMap((url, index) => types.map((type) => entry(slugOf(index, type), type, url)));
  // as many as a project may have
  await strict.have(all.slice(0, 20).join(""));
  const spec = entry(
    "spec",
    "openapi",
    "https://metadata.example/api",
    'spec = "https://metadata.example/spec"',
  );
  for (const index of urls.keys()) {
    const mcp = await strict.call("POST", `/connectors/${slugOf(index, "mcp")}/test`);
    expect([urls[index], mcp.status, mcp.body.code]).toEqual([urls[index], 400, "url_not_allowed"]);
    const http = await strict.agent.call(`${slugOf(index, "http")}_request`, { method: "GET", path: "/a" });
    expect([urls[index], http.value.code]).toEqual([urls[index], "url_not_allowed"]);
  }
  await strict.have(spec);
  expect((await strict.call("POST", "/connectors/spec/test")).body.code).toBe("url_not_allowed");
  expect(new Set(resolved)).toEqual(new Set(["metadata.example", "rebound.example"]));
  expect(connected).toEqual([]);
  await strict.stop();
});
