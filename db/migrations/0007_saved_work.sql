ALTER TABLE "project_sessions" ADD COLUMN "saved_commit" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "saved_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "saved_files" integer;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "saved_generation" integer;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "restores" boolean DEFAULT false NOT NULL;