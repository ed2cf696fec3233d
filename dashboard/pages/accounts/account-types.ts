import type { Role } from "../../../src/contract/account.ts";

export interface Account {
  account_id: string;
  name: string;
}

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  created_at: string;
}

export interface Invitation {
  invitation_id: string;
  email: string | null;
  role: Role;
  created_at?: string;
  expires_at: string;
}

export type MadeInvitation = Invitation & { url: string };
