import { ChevronDown } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { useMe } from "../api/accounts.ts";
import { useSignOut } from "../api/sign-out.ts";
import { useSignedIn } from "../api/signed-in.ts";
import { Button } from "../parts/button.tsx";
import { Kbd } from "../parts/kbd.tsx";
import { listenToKeys, useKeys } from "../parts/keys.ts";
import { ThemeChoice } from "../parts/theme-choice.tsx";
import { Visible } from "../parts/visible.tsx";
import { Bell } from "./bell.tsx";
import { lazyPage } from "./lazy-page.tsx";
import { opensPalette, PALETTE_KEYS } from "./palette-keys.ts";

const Palette = lazyPage(async () => (await import("./palette.tsx")).Palette);
const KeyHelp = lazyPage(async () => (await import("./key-help.tsx")).KeyHelp);

/** A readable width. Pages with an element that has `data-wide` use the full width of the window. */
const WIDTH = "mx-auto max-w-7xl in-[body:has([data-wide])]:max-w-none px-4";

/** The layout of all pages for signed-in users: link to the start page, command palette, user menu. */
export function Shell({ children }: { children: ReactNode }) {
  const [overlay, setOverlay] = useState<"palette" | "keys" | null>(null);
  useKeys([{ key: "?", about: "Keyboard shortcuts", run: () => setOverlay("keys") }]);
  useEffect(listenToKeys, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!opensPalette(event) || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      setOverlay("palette");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <a
        href="#main"
        className="absolute top-2 left-2 z-50 -translate-y-20 rounded-md bg-accent px-3 py-2 text-on-accent focus:translate-y-0"
      >
        Skip to the content
      </a>
      <header className="border-line border-b bg-surface">
        <div className={`${WIDTH} flex items-center justify-between gap-4 py-2`}>
          <Link href="/" className="flex items-center gap-2 font-semibold text-lg text-ink no-underline">
            <img src="/assets/icon.svg" alt="" className="size-7" />
            svc
          </Link>
          <div className="flex items-center gap-1">
            <Button look="quiet" onClick={() => setOverlay("palette")}>
              Go to … <Kbd>{PALETTE_KEYS}</Kbd>
            </Button>
            <Bell />
            <UserMenu onKeys={() => setOverlay("keys")} />
          </div>
        </div>
      </header>
      <main id="main" className={`${WIDTH} pb-16`}>
        {children}
      </main>
      {overlay === "palette" && <Palette onClose={() => setOverlay(null)} />}
      {overlay === "keys" && <KeyHelp onClose={() => setOverlay(null)} />}
    </>
  );
}

function UserMenu({ onKeys }: { onKeys: () => void }) {
  const { data } = useSignedIn();
  const { data: me } = useMe();
  const signOut = useSignOut("/login");
  return (
    <details name="menu" className="relative">
      <summary className="flex min-h-9 list-none items-center gap-1 rounded-md px-2 hover:bg-raised">
        <Visible>{data?.user?.name ?? "Account"}</Visible>
        <ChevronDown className="size-4" />
      </summary>
      <div className="absolute right-0 z-40 mt-1 flex w-64 flex-col gap-3 rounded-md border border-line bg-surface p-3 shadow-lg">
        <p className="text-muted text-sm">
          Signed in as <Visible>{data?.user?.email ?? ""}</Visible>
        </p>
        <Link href="/settings" className="text-accent underline">
          Settings and tokens
        </Link>
        {me?.is_operator && (
          <Link href="/server" className="text-accent underline">
            Server
          </Link>
        )}
        <Button onClick={onKeys}>
          Keyboard shortcuts <Kbd>?</Kbd>
        </Button>
        <ThemeChoice />
        <Button busy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </div>
    </details>
  );
}
