CREATE TYPE "public"."egress_outcome" AS ENUM('passed', 'not_allowed', 'none', 'not_public', 'server_name');--> statement-breakpoint
CREATE TABLE "run_egress" (
	"run_id" text NOT NULL,
	"outcome" "egress_outcome" NOT NULL,
	"host" text NOT NULL,
	"port" integer NOT NULL,
	"connections" bigint NOT NULL,
	"sent" bigint NOT NULL,
	"received" bigint NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	CONSTRAINT "run_egress_run_id_outcome_host_port_pk" PRIMARY KEY("run_id","outcome","host","port")
);
--> statement-breakpoint
ALTER TABLE "session_sandboxes" ADD COLUMN "egress" jsonb;--> statement-breakpoint
ALTER TABLE "run_egress" ADD CONSTRAINT "run_egress_run_id_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("run_id") ON DELETE cascade ON UPDATE no action;