import fastify, { type FastifyPluginCallback } from 'fastify';
import { load } from '../packages.js';

/** The process of @fastify/http-proxy with its defaults: no log, and 128 connections to the upstream. */
const [, , upstream = ''] = process.argv;
const app = fastify();
app.register(load('@fastify/http-proxy') as FastifyPluginCallback<{ upstream: string }>, { upstream });
const url = await app.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 });
process.send?.(url);
process.once('disconnect', () => process.exit());
