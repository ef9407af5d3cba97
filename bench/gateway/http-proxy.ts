import { createRequire } from 'node:module';
import fastify, { type FastifyPluginCallback } from 'fastify';

/** The process of @fastify/http-proxy with its defaults: no log, and 128 connections to the upstream. */
const [, , upstream = ''] = process.argv;
/** It lies in the `node_modules` of `bench/`, from which compiled files cannot import by name. */
const load = createRequire(new URL('../../../bench/package.json', import.meta.url));
const app = fastify();
app.register(load('@fastify/http-proxy') as FastifyPluginCallback<{ upstream: string }>, { upstream });
const url = await app.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 });
process.send?.(url);
process.once('disconnect', () => process.exit());
