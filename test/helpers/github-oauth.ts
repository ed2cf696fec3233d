import { createHash } from "node:crypto";

export interface GithubPerson {
  id: number;
  login: string;
  name: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

/**
 * A stand-in for GitHub's web application flow (docs.github.com: Authorizing OAuth apps), laid out as an Enterprise Server
 * is. It checks what GitHub checks: the app, its secret, the address to come back to, PKCE, and that a code is used once.
 */
export function startGithub(app: { id: string; secret: string }) {
  const codes = new Map<string, { challenge: string | null; redirectUri: string; person: GithubPerson }>();
  const tokens = new Map<string, GithubPerson>();
  const state: { person: GithubPerson | null; isAway: boolean; refusals: string[] } = {
    person: null,
    isAway: false,
    refusals: [],
  };
  const refuse = (error: string) => {
    state.refusals.push(error);
    // GitHub reports this with a 200
    return Response.json({ error, error_description: "made up" });
  };

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (state.isAway) return new Response("<html>", { status: 502 });
      if (pathname === "/login/oauth/authorize") return authorize(searchParams);
      if (pathname === "/login/oauth/access_token")
        return exchange(new URLSearchParams(await request.text()));
      const person = tokens.get(request.headers.get("authorization")?.replace("Bearer ", "") ?? "");
      if (!person) return Response.json({ message: "Bad credentials" }, { status: 401 });
      if (pathname === "/api/v3/user/emails") return Response.json(person.emails);
      const { emails, ...user } = person;
      return Response.json(pathname === "/api/v3/user" ? user : { message: "Not Found" });
    },
  });

  function authorize(query: URLSearchParams): Response {
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("state", query.get("state") ?? "");
    if (query.get("client_id") !== app.id) return new Response("404", { status: 404 });
    if (!state.person) back.searchParams.set("error", "access_denied");
    else {
      const code = crypto.randomUUID();
      const redirectUri = query.get("redirect_uri") ?? "";
      codes.set(code, { challenge: query.get("code_challenge"), redirectUri, person: state.person });
      back.searchParams.set("code", code);
    }
    return new Response(null, { status: 302, headers: { Location: back.href } });
  }

  function exchange(form: URLSearchParams): Response {
    if (form.get("client_id") !== app.id || form.get("client_secret") !== app.secret) {
      return refuse("incorrect_client_credentials");
    }
    const granted = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    if (!granted) return refuse("bad_verification_code");
    if (granted.redirectUri !== form.get("redirect_uri")) return refuse("redirect_uri_mismatch");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (granted.challenge !== challenge) return refuse("bad_verification_code");
    const token = `gho_${crypto.randomUUID()}`;
    tokens.set(token, granted.person);
    return Response.json({ access_token: token, token_type: "bearer", scope: "user:email" });
  }

  return { url: `http://127.0.0.1:${server.port}`, state, stop: () => server.stop(true) };
}
