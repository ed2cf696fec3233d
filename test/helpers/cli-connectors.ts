import type {
  Connector,
  ConnectorAsk,
  ConnectorCall,
  ConnectorConsent,
  ConnectorTest,
} from "../../src/contract/connector.ts";

const TIME = "2026-11-20T10:00:00.000Z";
export const ASK_ID = "99999999-9999-4999-8999-999999999999";

const connector: Connector = {
  slug: "github",
  type: "mcp",
  url: "https://mcp.example.com/mcp",
  spec: null,
  auth: "GITHUB_TOKEN",
  auth_header: null,
  secret_missing: true,
  connected_by: null,
  connected_at: null,
  policies: [{ match: "get_*", action: "allow" }],
};

const tested = (): ConnectorTest => ({
  slug: "github",
  tools: [{ name: "github_get_issue", original_name: "get_issue", description: "Gets one", action: "allow" }],
  left_out: 1,
  duration_ms: 12,
});

const call: ConnectorCall = {
  call_id: "88888888-8888-4888-8888-888888888888",
  connector: "github",
  tool: "get_issue",
  action: "allow",
  outcome: "ok",
  error: null,
  author: null,
  duration_ms: 12,
  created_at: TIME,
};

const ask: ConnectorAsk = {
  ask_id: ASK_ID,
  connector: "github",
  tool: "create_issue",
  arguments: '{"title":"x"}',
  state: "pending",
  session_id: null,
  author: null,
  answered_by: null,
  message: null,
  created_at: TIME,
  expires_at: TIME,
};

/** A server's responses about connectors. */
export const CONNECTOR_ROUTES = {
  "GET /projects/:p/connectors": () => ({ connectors: [connector] }),
  "POST /projects/:p/connectors/:n/test": tested,
  "POST /projects/:p/connectors/:n/connect": (): ConnectorConsent => ({
    authorization_url: "https://auth.example.com/authorize?state=x",
    expires_at: TIME,
  }),
  "DELETE /projects/:p/connectors/:n/connect": () => ({ ok: true }),
  "GET /projects/:p/connector-calls": () => ({ calls: [call] }),
  "GET /projects/:p/connector-asks": () => ({ asks: [ask] }),
  "POST /projects/:p/connector-asks/:n/answer": () => ask,
};
