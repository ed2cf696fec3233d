CREATE TYPE "public"."preview_role" AS ENUM('user', 'agent');--> statement-breakpoint
CREATE TABLE "preview_links" (
	"hash" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"port" integer NOT NULL,
	"user_id" uuid NOT NULL,
	"role" "preview_role" NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "preview_links" ADD CONSTRAINT "preview_links_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "preview_links" ADD CONSTRAINT "preview_links_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "preview_links_session_id" ON "preview_links" USING btree ("session_id");