import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useSearch } from "wouter";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { ROLE_NAMES } from "../accounts/roles.ts";
import { useEnter } from "./enter.ts";
import type { OneTimeLink } from "./link-types.ts";
import { NewUserFields } from "./new-user-fields.tsx";
import { PasswordField } from "./password-field.tsx";

/** Where a one-time link leads: to the first user, to a new password, or into an account. */
export function Welcome() {
  const token = new URLSearchParams(useSearch()).get("token") ?? "";
  const link = useQuery({
    queryKey: ["link", token],
    queryFn: ({ signal }) =>
      call<OneTimeLink>("GET", `/auth/link?token=${encodeURIComponent(token)}`, { signal }),
    // it works once: what it said before may not be true any more
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (link.isPending) return <Loading />;
  if (link.error) {
    return (
      <Entrance title="This link does not work">
        <Failure error={link.error} />
        <p className="text-center">
          <Link href="/login" className="text-accent underline">
            Sign in
          </Link>
        </p>
      </Entrance>
    );
  }
  return link.data.kind === "password" ? (
    <NewPassword token={token} link={link.data} />
  ) : (
    <NewUser token={token} link={link.data} />
  );
}

interface Props {
  token: string;
  link: OneTimeLink;
}

function NewUser({ token, link }: Props) {
  const [user, setUser] = useState({ name: "", email: link.email ?? "", password: "" });
  const accept = useEnter<typeof user & { token: string }>("/auth/link", "/");
  const errors = byField(accept.error, Object.keys(user));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate({ token, ...user });
  };
  const isInvited = link.kind === "invitation";
  return (
    <Entrance title={isInvited ? "You are invited" : "Welcome to svc"}>
      <p className="text-muted">
        {isInvited ? (
          <>
            Join <Visible>{link.account_name ?? "a team"}</Visible>
            {link.role && ` as ${ROLE_NAMES[link.role].toLowerCase()}`}: work in its projects, and review what
            agents make.
          </>
        ) : (
          "You are the first here. Choose how you will sign in from now on; you can invite others afterwards."
        )}
      </p>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <NewUserFields user={user} onChange={setUser} errors={errors} isEmailFixed={link.email !== null} />
        <Failure error={errors.rest} />
        <Button type="submit" look="primary" busy={accept.isPending}>
          {isInvited ? "Join" : "Begin"}
        </Button>
      </form>
      <Until link={link} />
    </Entrance>
  );
}

function NewPassword({ token, link }: Props) {
  const [password, setPassword] = useState("");
  const accept = useEnter<{ token: string; password: string }>("/auth/link", "/");
  const errors = byField(accept.error, ["password"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate({ token, password });
  };
  return (
    <Entrance title="Choose a password">
      <p className="text-muted">
        For <Visible>{link.email ?? "your user"}</Visible>. Browsers that are signed in by the one before are
        signed out.
      </p>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <input type="hidden" autoComplete="username" value={link.email ?? ""} />
        <PasswordField
          label="New password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={errors.of("password")}
        />
        <Failure error={errors.rest} />
        <Button type="submit" look="primary" busy={accept.isPending}>
          Set the password
        </Button>
      </form>
      <Until link={link} />
    </Entrance>
  );
}

function Until({ link }: { link: OneTimeLink }) {
  return (
    <p className="text-muted text-sm">
      This link works once, and expires <Ago at={link.expires_at} />.
    </p>
  );
}
