CREATE TYPE "public"."boot_step" AS ENUM('branch', 'image', 'sandbox', 'clone', 'runtime');--> statement-breakpoint
CREATE TYPE "public"."log_source" AS ENUM('svc', 'build', 'sandbox');--> statement-breakpoint
CREATE TYPE "public"."sandbox_provider" AS ENUM('docker', 'local', 'kubernetes');--> statement-breakpoint
CREATE TYPE "public"."session_goal" AS ENUM('running', 'stopped', 'deleted');--> statement-breakpoint
CREATE TYPE "public"."stop_reason" AS ENUM('user', 'idle', 'server');--> statement-breakpoint
CREATE TABLE "session_log" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"source" "log_source" NOT NULL,
	"text" text NOT NULL
);
--> statement-breakpoint
DROP INDEX "project_sessions_project_id";--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "name" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "agent_name" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "model" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "initial_prompt" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "provider" "sandbox_provider" DEFAULT 'local' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "place" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "goal" "session_goal" DEFAULT 'running' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "generation" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "step" "boot_step";--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "error" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "stop_reason" "stop_reason";--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "worker" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "worker_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "last_active_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD COLUMN "service_key" text NOT NULL;--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD COLUMN "generation" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD COLUMN "host" text;--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD COLUMN "port" integer;--> statement-breakpoint
ALTER TABLE "session_log" ADD CONSTRAINT "session_log_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "session_log_session_id" ON "session_log" USING btree ("session_id","seq");--> statement-breakpoint
CREATE INDEX "project_sessions_account_status" ON "project_sessions" USING btree ("account_id","status");--> statement-breakpoint
CREATE INDEX "project_sessions_project_id" ON "project_sessions" USING btree ("project_id","updated_at");