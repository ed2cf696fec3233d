import type { Connector, ConnectorAsk, ConnectorCall, ConnectorTest } from "../../src/contract/connector.ts";
import { fieldsOf } from "./fields.ts";

export const CONNECTOR_FIELDS = fieldsOf<Connector>()([
  "slug",
  "type",
  "url",
  "spec",
  "auth",
  "auth_header",
  "secret_missing",
  "connected_by",
  "connected_at",
  "policies",
]);

export const CONNECTOR_TEST_FIELDS = fieldsOf<ConnectorTest>()(["slug", "tools", "left_out", "duration_ms"]);

export const CONNECTOR_CALL_FIELDS = fieldsOf<ConnectorCall>()([
  "call_id",
  "connector",
  "tool",
  "action",
  "outcome",
  "error",
  "author",
  "duration_ms",
  "created_at",
]);

export const CONNECTOR_ASK_FIELDS = fieldsOf<ConnectorAsk>()([
  "ask_id",
  "connector",
  "tool",
  "arguments",
  "state",
  "session_id",
  "author",
  "answered_by",
  "message",
  "created_at",
  "expires_at",
]);
