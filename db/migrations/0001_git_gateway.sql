CREATE TYPE "public"."sandbox_state" AS ENUM('provisioning', 'active', 'stopped', 'error', 'archived');--> statement-breakpoint
CREATE TABLE "session_sandboxes" (
	"session_id" text PRIMARY KEY NOT NULL,
	"state" "sandbox_state" NOT NULL,
	"service_key_hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "session_sandboxes_service_key_hash_unique" UNIQUE("service_key_hash")
);
--> statement-breakpoint
ALTER TABLE "projects" ALTER COLUMN "repo_url" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD CONSTRAINT "session_sandboxes_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" DROP COLUMN "managed";