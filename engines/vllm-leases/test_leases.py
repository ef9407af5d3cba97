"""Runs where vLLM is installed: `PYTHONPATH=. python -m unittest` in this folder."""

import random
import unittest

from vllm.v1.kv_offload.base import ReqContext
from vllm.v1.kv_offload.cpu.manager import CPUOffloadingManager

from maitred_vllm.leases import LeasePolicy, lease_of


def retain(ttl, priority=0, **more):
    action = {"action_id": "1", "action_type": "kv.retain", "action_version": "1.0"}
    return {"kv_hint": {"actions": [{**action, "payload": {"session": "s", "ttl": ttl, "priority": priority, **more}}]}}


class World:
    """vLLM's own manager of a host tier with this policy; a chunk has one letter."""

    def __init__(self, size):
        self.now = 0.0
        self.manager = CPUOffloadingManager(size, "LeasePolicy", "maitred_vllm.leases")
        self.manager._policy._clock = lambda: self.now
        self.requests = 0

    def run(self, content, hint=None):
        """A request whose prompt has these chunks; False if they could not be stored."""
        self.requests += 1
        context = ReqContext(str(self.requests), hint)
        keys = [letter.encode() + b"\0\0\0\0" for letter in content]
        for position, key in enumerate(keys):
            context.set_offload_key_position(key, position)
        self.manager.on_new_request(context)
        stored = self.manager.prepare_store(keys, context)
        if stored is not None:
            self.manager.complete_store(stored.keys_to_store, context)
        self.manager.on_request_finished(context)
        return stored is not None

    def kept(self):
        return "".join(sorted(key[:1].decode() for key in self.manager._policy._chunks))


class LeaseTest(unittest.TestCase):
    def test_without_leases_the_longest_unused_goes_first(self):
        world = World(4)
        for content in ("ab", "cd", "ab", "e"):
            world.run(content)
        self.assertEqual(world.kept(), "abce")

    def test_what_has_a_lease_stays_until_it_ends(self):
        world = World(4)
        world.run("ab", retain(10))
        for content in ("cd", "ef"):
            world.run(content)
        self.assertEqual(world.kept(), "abef")
        world.now = 11
        world.run("gh")
        self.assertEqual(world.kept(), "efgh")

    def test_an_ended_lease_counts_as_used_when_it_was(self):
        world = World(4)
        world.run("a", retain(1))
        world.run("bcd")
        world.now = 2
        world.run("e")
        self.assertEqual(world.kept(), "bcde")

    def test_the_lowest_priority_goes_first(self):
        world = World(3)
        for letter, priority in (("a", 5), ("b", 1), ("c", 3)):
            world.run(letter, retain(100, priority))
        world.run("d", retain(100, 9))
        self.assertEqual(world.kept(), "acd")

    def test_no_lease_keeps_a_store_out(self):
        world = World(2)
        world.run("ab", retain(1e9, 100))
        self.assertTrue(world.run("cd"))
        self.assertEqual(world.kept(), "cd")

    def test_a_common_prefix_has_the_highest_of_its_leases(self):
        world = World(3)
        world.run("ab", retain(100, 5))
        world.run("a", retain(5, 1))
        world.run("c", retain(100, 3))
        world.run("a")
        world.now = 50
        world.run("d", retain(100, 9))
        self.assertEqual(world.kept(), "abd")

    def test_a_lease_without_an_end_or_of_another_shape_is_none(self):
        def of(params):
            return lease_of(ReqContext("r", params))

        for wrong in (0, -1, None, "9", True, [1]):
            self.assertIsNone(of(retain(wrong)))
        for params in (None, {}, {"kv_hint": 7}, {"kv_hint": {}}, {"kv_hint": {"actions": 7}}, {"kv_hint": {"actions": [7]}}):
            self.assertIsNone(of(params))
        self.assertIsNone(of({"kv_hint": {"actions": [{"action_type": "kv.fetch", "payload": {"ttl": 9}}]}}))
        self.assertIsNone(of({"kv_hint": {"actions": [{"action_type": "kv.retain", "payload": 7}]}}))
        self.assertEqual(of(retain(1e9, -3)), (0, 3600.0))
        self.assertEqual(of(retain(5, "high")), (0, 5))
        self.assertEqual(of(retain(5, 1e6)), (100, 5))

    def test_random_traffic_keeps_its_books(self):
        dice = random.Random(7)
        world = World(8)
        policy = world.manager._policy
        for _ in range(4000):
            world.now += dice.random() * 5
            hint = retain(dice.randint(1, 60), dice.randint(0, 3)) if dice.random() < 0.5 else None
            self.assertTrue(world.run("".join(dice.sample("abcdefghijklmnop", dice.randint(1, 8))), hint))
            self.assertLessEqual(len(policy._chunks), 8)
            self.assertEqual(set(policy._chunks), set(policy._ranks))
            self.assertLessEqual(set(policy._ends), set(policy._chunks))
            self.assertEqual({key for key, (level, _) in policy._ranks.items() if level > 0}, set(policy._ends))
            self.assertLessEqual({(rank, key) for key, rank in policy._ranks.items()}, set(policy._order))
            self.assertLess(len(policy._order), 64 + 2 * 16)
        self.assertIsNone(policy.evict(99, set()))
        policy.clear()
        self.assertEqual(world.kept(), "")


if __name__ == "__main__":
    unittest.main()
