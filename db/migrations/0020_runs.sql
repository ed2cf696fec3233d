ALTER TYPE "public"."session_goal" RENAME TO "run_goal";--> statement-breakpoint
CREATE TABLE "runs" (
	"run_id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"project_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"provider" "sandbox_provider" NOT NULL,
	"place" text NOT NULL,
	"status" "session_status" NOT NULL,
	"goal" "run_goal" DEFAULT 'running' NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"step" "boot_step",
	"error" text,
	"stop_reason" "stop_reason",
	"worker" text,
	"worker_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ready_at" timestamp with time zone
);
--> statement-breakpoint
INSERT INTO "runs" ("run_id", "kind", "project_id", "account_id", "provider", "place", "status", "goal", "generation",
	"step", "error", "stop_reason", "worker", "worker_until", "created_at", "updated_at", "ready_at")
SELECT "session_id", CASE "purpose" WHEN 'app' THEN 'deployment' ELSE 'session' END, "project_id", "account_id", "provider",
	"place", "status", "goal", "generation", "step", "error", "stop_reason", "worker", "worker_until", "created_at",
	"updated_at", CASE WHEN "status" = 'provisioning' THEN NULL ELSE "last_active_at" END
FROM "project_sessions";--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "runs_project_id" ON "runs" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "runs_account_id_status" ON "runs" USING btree ("account_id","status");--> statement-breakpoint
ALTER TABLE "session_sandboxes" DROP CONSTRAINT "session_sandboxes_session_id_project_sessions_session_id_fk";--> statement-breakpoint
ALTER TABLE "session_sandboxes" RENAME COLUMN "session_id" TO "run_id";--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD CONSTRAINT "session_sandboxes_run_id_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session_log" DROP CONSTRAINT "session_log_session_id_project_sessions_session_id_fk";--> statement-breakpoint
ALTER TABLE "session_log" RENAME TO "run_log";--> statement-breakpoint
ALTER TABLE "run_log" RENAME COLUMN "session_id" TO "run_id";--> statement-breakpoint
ALTER INDEX "session_log_session_id" RENAME TO "run_log_run_id";--> statement-breakpoint
ALTER SEQUENCE "session_log_seq_seq" RENAME TO "run_log_seq_seq";--> statement-breakpoint
ALTER TABLE "run_log" ADD CONSTRAINT "run_log_run_id_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
DELETE FROM "project_sessions" WHERE "purpose" = 'app';--> statement-breakpoint
ALTER TABLE "project_sessions" ADD CONSTRAINT "project_sessions_session_id_runs_run_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."runs"("run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "purpose";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "provider";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "place";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "goal";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "generation";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "step";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "error";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "stop_reason";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "worker";--> statement-breakpoint
ALTER TABLE "project_sessions" DROP COLUMN "worker_until";--> statement-breakpoint
DROP TYPE "public"."session_purpose";
