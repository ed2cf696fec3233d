import { createHash, randomUUID } from "node:crypto";
import { mcpAnswer, type Service, startService, text, tool } from "./connectors.ts";

/** An MCP server that requires OAuth, and its authorization server, on one port: as the specification of MCP has them. */
export interface OauthService extends Service {
  /** The access tokens that the MCP server accepts. */
  valid: Set<string>;
  /** The last tokens that were issued. */
  issued: { access: string; refresh: string };
  /** Requests for tokens, and the status of each. */
  exchanges: { form: Record<string, string>; status: number }[];
  /** Seconds; null: it is not said. */
  expiresIn: number | null;
  /** Whether the metadata says that each answer names its issuer (RFC 9207). */
  announcesIssuer: boolean;
  /** Changes an answer before it is sent; null: leaves it. */
  alter: (path: string) => Response | Promise<Response> | null;
  /** What a person does on the page for consent. @returns the address that the browser is sent to */
  consent(authorizationUrl: string): URL;
}

export function startOauthService(): OauthService {
  const codes = new Map<string, { challenge: string; client: string; redirect: string }>();
  const clients = new Map<string, string[]>();
  const mcp = mcpAnswer({ tools: [tool("read")], call: () => text("done") });
  const service: OauthService = Object.assign(
    startService(async (got, request) => {
      const path = got.path.split("?")[0] ?? "";
      return (await service.alter(path)) ?? (await answer(path, request));
    }),
    {
      valid: new Set<string>(),
      issued: { access: "", refresh: "" },
      exchanges: [],
      expiresIn: 3600,
      announcesIssuer: false,
      alter: () => null,
      consent(authorizationUrl: string) {
        const { searchParams } = new URL(authorizationUrl);
        const [challenge, client, redirect] = ["code_challenge", "client_id", "redirect_uri"].map(
          (name) => searchParams.get(name) ?? "",
        );
        if (searchParams.get("code_challenge_method") !== "S256" || !challenge || !client || !redirect)
          throw new Error(`no request for consent: ${authorizationUrl}`);
        if (!clients.get(client)?.includes(redirect)) throw new Error("the redirect is not registered");
        const code = randomUUID();
        codes.set(code, { challenge, client, redirect });
        const back = new URL(redirect);
        back.search = String(
          new URLSearchParams({ code, state: searchParams.get("state") ?? "", iss: service.url }),
        );
        return back;
      },
    },
  );
  return service;

  async function answer(path: string, request: Request): Promise<Response> {
    const { url } = service;
    if (path.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({
        resource: `${url}/mcp`,
        authorization_servers: [url],
        scopes_supported: ["read", "write"],
      });
    if (path === "/.well-known/oauth-authorization-server")
      return Response.json({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        registration_endpoint: `${url}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        ...(service.announcesIssuer && { authorization_response_iss_parameter_supported: true }),
      });
    if (path === "/register") {
      const client = await request.json();
      const client_id = randomUUID();
      clients.set(client_id, client.redirect_uris);
      return Response.json({ ...client, client_id }, { status: 201 });
    }
    if (path === "/token") return exchange(Object.fromEntries(new URLSearchParams(await request.text())));
    if (path !== "/mcp") return new Response(null, { status: 404 });
    const given = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    return service.valid.has(given) ? await mcp(got(request), request) : new Response(null, { status: 401 });
  }

  function exchange(form: Record<string, string>): Response {
    const status = isAllowed(form) ? 200 : 400;
    service.exchanges.push({ form, status });
    if (status === 400) return Response.json({ error: "invalid_grant" }, { status });
    // both are valid once
    codes.delete(form["code"] ?? "");
    service.valid.clear();
    service.issued = { access: `at_${randomUUID()}`, refresh: `rt_${randomUUID()}` };
    service.valid.add(service.issued.access);
    return Response.json({
      access_token: service.issued.access,
      token_type: "Bearer",
      refresh_token: service.issued.refresh,
      ...(service.expiresIn !== null && { expires_in: service.expiresIn }),
    });
  }

  function isAllowed(form: Record<string, string>): boolean {
    if (form["resource"] !== `${service.url}/mcp`) return false;
    if (form["grant_type"] === "refresh_token") return form["refresh_token"] === service.issued.refresh;
    const code = codes.get(form["code"] ?? "");
    const challenge = createHash("sha256")
      .update(form["code_verifier"] ?? "")
      .digest("base64url");
    return (
      code !== undefined &&
      code.challenge === challenge &&
      code.client === form["client_id"] &&
      code.redirect === form["redirect_uri"]
    );
  }
}

const got = (request: Request) => ({ method: request.method, path: "/mcp", headers: {}, body: "" });
