ALTER TABLE "change_requests" ADD COLUMN "created_actor" jsonb;--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "merged_actor" jsonb;--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "closed_actor" jsonb;--> statement-breakpoint
ALTER TABLE "merge_intents" ADD COLUMN "merged_actor" jsonb;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "former_default_branches" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "self_approval" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "protected_branches" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "protected_tags" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "session_prompts" ADD COLUMN "created_actor" jsonb;--> statement-breakpoint
ALTER TABLE "project_secrets" ADD COLUMN "audience" text[] DEFAULT '{"sessions","builds"}' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_secrets" ADD COLUMN "set_by" uuid;--> statement-breakpoint
ALTER TABLE "project_secrets" ADD COLUMN "set_actor" jsonb;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "created_actor" jsonb;--> statement-breakpoint
ALTER TABLE "project_secrets" ADD CONSTRAINT "project_secrets_set_by_users_user_id_fk" FOREIGN KEY ("set_by") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "trigger_firings_session_id" ON "trigger_firings" USING btree ("session_id");--> statement-breakpoint
UPDATE "projects" SET "policy_commit" = NULL;--> statement-breakpoint
UPDATE "project_secrets" SET "audience" = '{sessions,builds,apps}';