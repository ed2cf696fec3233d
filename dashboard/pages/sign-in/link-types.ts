import type { Role } from "../../../src/contract/account.ts";

export interface OneTimeLink {
  kind: "first_user" | "password" | "invitation";
  email: string | null;
  account_name?: string;
  role?: Role;
  expires_at: string;
}

export interface DeviceRequest {
  user_code: string;
  label: string;
  client: string;
  requested_at: string;
  address: string;
  expires_at: string;
}
