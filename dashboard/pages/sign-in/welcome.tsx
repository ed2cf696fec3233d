import { useSearch } from "wouter";
import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { LinkButton } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Join } from "./join.tsx";
import { NewPassword } from "./new-password.tsx";
import { NewUser } from "./new-user.tsx";

/** The page of a one-time link: for the first user, a new password, or an invitation. */
export function Welcome() {
  const token = new URLSearchParams(useSearch()).get("token") ?? "";
  const { data: session } = useSignedIn();
  const { data: link, error } = useGet<OneTimeLink>(["link", token], path`/auth/link?token=${token}`, {
    enabled: token !== "",
    // a link works once, so a cached response may be outdated
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (token === "" || (error && !link)) {
    return (
      <Entrance title="This link does not work">
        {token === "" ? (
          <Notice kind="error">The link is incomplete. Copy the whole link into the address bar.</Notice>
        ) : (
          <Failure error={error} />
        )}
        <LinkButton to="/">{session?.signed_in ? "Go to your projects" : "Sign in"}</LinkButton>
      </Entrance>
    );
  }
  if (!link || !session) return <Loading />;
  if (link.kind === "password") return <NewPassword token={token} link={link} />;
  if (link.kind === "invitation" && session.user) {
    return <Join token={token} link={link} user={session.user} />;
  }
  return <NewUser token={token} link={link} />;
}
