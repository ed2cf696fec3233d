/** Answer of `GET /v1/health`. */
export interface Health {
  status: "ok";
  service: "svc-api";
  version: string;
  database: "postgres" | "embedded";
}
